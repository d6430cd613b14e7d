-- Gives a lock back, and on to the next.
--
-- Keys        1 N   2 holdfast_lock:{N}
-- Arguments   1-4 as in keys.lua   5 kind   6 owner   7 fence
-- Replies     released, or waited for: others stand in line; or gone
--#include keys.lua

use(KEYS[1], KEYS[2])
if ARGV[5] == '0' and plain_hold(ARGV[6], tonumber(ARGV[7])) and redis.call('HDEL', N, ARGV[6]) == 1 then
  redis.call('DEL', LOCK, HOLDS)
  if interop then tell_mutex_is_free() end
  return 'released'
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
return reply
