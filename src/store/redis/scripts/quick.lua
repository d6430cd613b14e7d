-- The little that the quick ways need: those of a mutex that nobody else wants, most of what a server is asked.
-- They come before all other code, because each function that is defined costs time, also if it is not called,
-- and each number that Redis itself has to write in digits does, too. Whatever is unusual is left to the code
-- behind them.

local MAX_EXACT = 9007199254740992 -- 2^53: all times and fences stay below, so a Lua number holds them exactly

-- In microseconds. This function and left_of() are the only ones that look at a clock.
local function clock()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

-- A number in digits: Lua itself would write 1.79e+15.
local function digits(number)
  return string.format('%.0f', number)
end

-- A fence and its spares; none if the numbers have run out. The counter stays behind the clock as long as
-- the clock is right, so a server that has forgotten it goes on above it. It is not written yet.
local function fence_after(counter, now, spare)
  if not counter then return now, 0 end
  if counter >= MAX_EXACT - 1000000 then return nil end
  local fence = math.max(counter + 1, now - spare)
  return fence, math.max(0, math.min(spare, now - fence))
end

-- Whether that hold of a mutex is in order and nobody waits in the line or the queue; if not, one has to look
-- closer.
local function is_plain_hold(lock, holds, owner, fence, now, line, queue)
  local stored = redis.call('HMGET', lock, 'kind', 'h' .. owner)
  if stored[1] ~= '0' or not stored[2] or redis.call('EXISTS', line, queue) > 0 then return false end
  local hold = cmsgpack.unpack(stored[2])
  local ends = tonumber(redis.call('ZSCORE', holds, owner) or 0)
  return hold[1] == fence and hold[6] == 0 and hold[7] == 0 and ends > now -- neither offered nor revoked
end
