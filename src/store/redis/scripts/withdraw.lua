-- Leaves the line, and gives back what was granted meanwhile.
--
-- Keys        1 N   2 holdfast_lock:{N}
-- Arguments   1-4 as in keys.lua   5 kind   6 owner
-- Replies     withdrawn
--#include line.lua

open(KEYS[1], KEYS[2], tonumber(ARGV[5]))
if kind == tonumber(ARGV[5]) then
  local stood_there = waiting
  leave_line(ARGV[6])
  if find(ARGV[6]) then
    end_hold(ARGV[6])
    drop_lapsed()
  end
  -- It may have been the only one that knew whose release to listen for.
  if foreign and waiting > 0 and waiting < stood_there then tell_to_look(head_of_line(), 0) end
  pass_on()
else
  close()
end
return 'withdrawn'
