-- One cell, and the last operation of the client that asks (rules/cell_entry.hpp).
--
--   holdfast_cell:<kind>:{N}          hash: value, version. It stays for ever
--   holdfast_op:<kind>:<client>:{N}   packed: number, whether it was done, version, sum
--
-- Keys        1 the cell   2 the operation   3 N   4 holdfast_lock:{N}; 3 and 4 only for the size of a semaphore
-- Arguments   1-4 as in keys.lua   5 number of the operation   6 ms for which it is remembered
--             7 the cell's channel
-- Replies     {done, value, version}   {conflict, value, version}   {older}
--#include line.lua

local CELL, OP = KEYS[1], KEYS[2]
local number = tonumber(ARGV[5])

local value = redis.call('HGET', CELL, 'value') or ''
local version = tonumber(redis.call('HGET', CELL, 'version') or 0)

-- The answer to an operation that is not new; nil if it is. `again` says what the value became, of the version
-- and the sum that are remembered.
local function known(again)
  local packed = redis.call('GET', OP)
  if not packed then return nil end
  local last = cmsgpack.unpack(packed)
  if number > last[1] then return nil end
  if number < last[1] then return { 'older' } end
  if last[2] == 0 then return { 'conflict', value, version } end
  return { 'done', again(last[3], last[4]), last[3] }
end

local function remember(done, sum)
  redis.call('SET', OP, cmsgpack.pack({ number, done and 1 or 0, version, sum }))
  expire(OP, now + tonumber(ARGV[6]) * 1000)
  return { done and 'done' or 'conflict', value, version }
end

-- The cell holds the value already; this makes it known. A new size serves the line of its semaphore.
local function changed_to(new_value)
  value = new_value
  version = redis.call('HINCRBY', CELL, 'version', 1)
  publish('PUBLISH', ARGV[7], digits(version))
  if not KEYS[4] then return end
  pcall(function() -- the size is set, whatever becomes of the line now
    open(KEYS[3], KEYS[4], SEMAPHORE)
    drop_hopeless()
    pass_on()
  end)
end
