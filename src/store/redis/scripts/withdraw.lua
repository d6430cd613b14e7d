-- Leaves the line, and gives back what was granted meanwhile.
--
-- Keys        1 N   2 holdfast_lock:{N}
-- Arguments   1-4 as in keys.lua   5 kind   6 owner
-- Replies     withdrawn
--#include line.lua

open(KEYS[1], KEYS[2], tonumber(ARGV[5]))
if kind == tonumber(ARGV[5]) then
  leave_line(ARGV[6])
  if find(ARGV[6]) then
    end_hold(ARGV[6])
    drop_lapsed()
  end
  pass_on()
else
  close()
end
insist()
return 'withdrawn'
