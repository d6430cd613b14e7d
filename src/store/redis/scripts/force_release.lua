-- Takes a lock from its holder: revoked, so that it cannot be renewed, or at once.
--
-- Keys        1 N   2 holdfast_lock:{N}
-- Arguments   1-4 as in keys.lua   5 kind   6 fence; 0 means a holder that is not ours   7 at once (1 or 0)
-- Replies     forced; changed: that fence does not hold it; foreign: one that is not ours cannot be revoked
--#include line.lua

local fence, at_once = tonumber(ARGV[6]), ARGV[7] == '1'

-- What was to take its place goes with it.
local function drop_those_instead_of(owner)
  for _, other in ipairs(redis.call('ZRANGE', LINE, 0, MANY - 1)) do
    local ask = read_waiting(other)
    if ask and ask.old == owner and ask.old_fence == fence then leave_line(other) end
  end
  for _, other in ipairs(redis.call('ZRANGE', HOLDS, 0, -1)) do
    local hold = read_hold(other)
    if hold and hold.old == owner and hold.old_fence == fence then end_hold(other) end
  end
end

local function force(owner, hold)
  if at_once then
    end_hold(owner)
  else
    hold.revoked = 1
    save_hold(owner, hold)
    drop_those_instead_of(owner)
  end
end

local function force_foreign()
  if not foreign or occupied then return 'changed' end
  if not at_once then return 'foreign' end
  for _, field in ipairs(foreign.fields) do
    redis.call('HDEL', N, field)
    redis.call('DEL', reader_key(field, 1))
  end
  foreign, changed, writer_ended = nil, true, true
  return 'forced'
end

open(KEYS[1], KEYS[2], tonumber(ARGV[5]))
local reply = 'changed'
if fence == 0 then
  reply = force_foreign()
else
  for _, owner in ipairs(redis.call('ZRANGE', HOLDS, 0, -1)) do
    local hold = find(owner)
    if hold and hold.fence == fence then
      force(owner, hold)
      reply = 'forced'
      break
    end
  end
end
drop_lapsed()
pass_on()
if reply ~= 'forced' then insist() end
return reply
