-- Time, and what is told to others. All times are microseconds of the server's clock.
--#include quick.lua

local function left_of(key)
  local ms = redis.call('PTTL', key)
  if ms == -1 then return 86400000000 end -- it never ends: a day, then
  return ms > 0 and ms * 1000 or 0
end

local now = clock()

-- Never earlier than `at`: Redis counts in milliseconds.
local function expire(key, at)
  redis.call('PEXPIREAT', key, math.ceil(at / 1000))
end

-- How many heard it; -1 if it could not be told. A missing right to publish must not undo what was done.
local function publish(command, channel, message)
  local heard = redis.pcall(command, channel, message)
  return type(heard) == 'number' and heard or -1
end
