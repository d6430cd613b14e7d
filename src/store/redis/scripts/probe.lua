-- Which commands, keys and channels of the other scripts this user may not use. Leaves nothing behind.
--
-- Keys        none: the server would refuse the whole script to a user that may not use them
-- Arguments   1-4 as in keys.lua   5 N, a name that nobody uses   6 holdfast_lock:{N}   7 a client's channel
--             8 Redisson's channel
-- Replies     {{command...}, {key...}, {channel...}}, those that are refused

local commands, keys, channels = {}, {}, {}

-- The server looks at the command first, then at keys and channels: if it objects to these, the command is
-- allowed.
local function try(command, ...)
  local reply = redis.pcall(command, ...)
  local subject = ...
  local text = type(reply) == 'table' and reply.err or ''
  local denied = text:find('NOPERM', 1, true) or text:find('user executing the script', 1, true) -- before 7.2
  if text:find('nknown', 1, true) or (denied and text:find('run th', 1, true)) then
    table.insert(commands, command)
  elseif denied then
    table.insert(text:find('channel', 1, true) and channels or keys, subject)
  end
  return text == ''
end

local N, LOCK = ARGV[5], ARGV[6]
local tag = LOCK:sub(#'holdfast_lock:' + 1)

for _, word in ipairs({ 'lock', 'holds', 'line', 'lapse', 'slots', 'fence', 'cell:size', 'op:size' }) do
  try('EXISTS', 'holdfast_' .. word .. ':' .. tag)
end
try('EXISTS', N)
if ARGV[1] == '1' then
  try('EXISTS', '{' .. N .. '}:x:rwlock_timeout:1')
  for _, word in ipairs({ 'token', 'queue', 'timeout' }) do
    try('EXISTS', 'redisson_lock_' .. word .. ':{' .. N .. '}')
  end
end

try('TIME')
try('TYPE', LOCK)
try('PTTL', LOCK)
try('GET', LOCK)
try('BITPOS', LOCK, 0)
try('HEXISTS', LOCK, 'f')
try('HGET', LOCK, 'f')
try('HGETALL', LOCK)
try('HKEYS', LOCK)
try('HLEN', LOCK)
try('HMGET', LOCK, 'f')
try('LINDEX', LOCK, 0)
try('LLEN', LOCK)
try('LRANGE', LOCK, 0, 0)
try('LPOS', LOCK, 'x')
try('ZCARD', LOCK)
try('ZRANGE', LOCK, 0, 0)
try('ZRANGEBYSCORE', LOCK, 0, 0)
try('ZRANK', LOCK, 'm')
try('ZREVRANGE', LOCK, 0, 0)
try('ZSCORE', LOCK, 'm')
try('SCAN', '0', 'MATCH', LOCK, 'COUNT', '1')
try('PUBSUB', 'NUMSUB', ARGV[8])
try('PUBLISH', ARGV[7], '')
if ARGV[1] == '1' then try('PUBLISH', ARGV[8], '') end

-- Those that write do so on a key that is not there, or is removed again.
if try('DEL', LOCK) then
  try('HDEL', LOCK, 'f')
  try('LREM', LOCK, 0, 'x')
  try('PEXPIREAT', LOCK, '1')
  try('ZREM', LOCK, 'm')
  try('ZADD', LOCK, 'XX', 1, 'm')
  try('SET', LOCK, '', 'XX')
  try('SETBIT', LOCK, 0, 0)
  redis.call('DEL', LOCK)
  try('RPUSH', LOCK, 'x')
  redis.call('DEL', LOCK)
  try('HSET', LOCK, 'f', 1)
  try('HSETNX', LOCK, 'f', 1)
  try('HINCRBY', LOCK, 'f', 1)
  redis.call('DEL', LOCK)
end
return { commands, keys, channels }
