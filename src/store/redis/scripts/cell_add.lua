-- Adds to the number in a cell: it becomes max(value + delta, floor).
--
-- Keys, arguments and replies as in cell.lua;   8 the delta   9 the floor
--#include cell.lua

local delta, floor = ARGV[8], ARGV[9]

-- Whole numbers of 64 bits in digits: a Lua number would round them.
local function less(a, b)
  local a_negative, b_negative = a:sub(1, 1) == '-', b:sub(1, 1) == '-'
  if a_negative ~= b_negative then return a_negative end
  local shorter = #a < #b
  if #a == #b then shorter = a < b end
  if a == b then return false end
  return shorter ~= a_negative
end

-- The sum, left in the cell, or nil if there is none: no number, or it would be too great.
local function sum_up()
  local sum = redis.pcall('HINCRBY', CELL, 'value', delta) -- 64 bits
  if type(sum) == 'number' then
    sum = redis.call('HGET', CELL, 'value')
  elseif sum.err:find('overflow', 1, true) then
    sum = less(delta, '0') and floor or nil
  elseif sum.err:find('not an integer', 1, true) then
    sum = nil
  else
    error(sum)
  end
  if sum and less(sum, floor) then sum = floor end
  return sum
end

local reply = known(function(its_version, sum) return its_version == 0 and '' or sum end)
if reply then return reply end
local before = version == 0 and '0' or value
local sum = sum_up()
if not sum then return remember(false, '') end
if sum ~= before then
  redis.call('HSET', CELL, 'value', sum)
  changed_to(sum)
elseif version == 0 then
  redis.call('HDEL', CELL, 'value') -- it was never written, and stays so
else
  redis.call('HSET', CELL, 'value', value)
end
return remember(true, sum)
