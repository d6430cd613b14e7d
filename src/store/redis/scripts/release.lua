-- Gives a lock back, and on to the next.
--
-- Keys        1 N   2 holdfast_lock:{N}
-- Arguments   1-4 as in keys.lua   5 kind   6 owner   7 fence
-- Replies     released, or waited for: others stand in line; or gone
--#include quick.lua

if ARGV[5] == '0' then
  local name, lock, owner = KEYS[1], KEYS[2], ARGV[6]
  local tag = lock:sub(#'holdfast_lock:' + 1)
  local holds, line = 'holdfast_holds:' .. tag, 'holdfast_line:' .. tag
  local redisson = ARGV[1] == '1' and (name:find('{', 1, true) and name or '{' .. name .. '}')
  local queue = redisson and 'redisson_lock_queue:' .. redisson or line
  if is_plain_hold(lock, holds, owner, tonumber(ARGV[7]), clock(), line, queue)
    and redis.call('HDEL', name, owner) == 1 then
    redis.call('DEL', lock, holds)
    if redisson then redis.pcall(ARGV[2], 'redisson_lock__channel:' .. redisson, '0') end -- it needs a right
    return 'released'
  end
end

--#include line.lua

open(KEYS[1], KEYS[2], tonumber(ARGV[5]))
local reply = 'gone'
if kind == tonumber(ARGV[5]) and find_exactly(ARGV[6], tonumber(ARGV[7])) then
  reply = waiting > 0 and 'waited for' or 'released'
  end_hold(ARGV[6])
  drop_lapsed() -- whoever wanted to exchange that hold
end
pass_on()
if reply == 'gone' then insist() end
return reply
