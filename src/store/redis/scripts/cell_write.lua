-- Replaces the value of a cell if its version is the expected one.
--
-- Keys, arguments and replies as in cell.lua;   8 the expected version   9 the value
--#include cell.lua

local reply = known(function() return ARGV[9] end)
if reply then return reply end
if version ~= tonumber(ARGV[8]) then return remember(false, '') end
redis.call('HSET', CELL, 'value', ARGV[9])
changed_to(ARGV[9])
return remember(true, '')
