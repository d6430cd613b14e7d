-- Keeps up to 100 holds alive, each for its own time. A hold that was offered is confirmed by it.
--
-- Keys        2i-1 N   2i holdfast_lock:{N}, of the i-th
-- Arguments   1-4 as in keys.lua, then of each: interop (1 or 0), kind, owner, fence, lease in microseconds
-- Replies     of each: the lease it got, gone, forced or, if this one failed, the error
--#include keys.lua

-- One that is neither waited for nor anything but held. False: it has to be looked at closer.
local function renew_quickly(item)
  interop = item.interop
  use(item.name, item.lock)
  if item.kind ~= MUTEX then return false end
  if not is_plain_hold(LOCK, HOLDS, item.owner, item.fence, now, LINE, LINE) then return false end
  if redis.call('HEXISTS', N, item.owner) == 0 then return false end
  local ends = now + item.lease
  expire(N, ends) -- first: a script that has written goes on even if memory is short
  redis.call('ZADD', HOLDS, ends, item.owner)
  expire(LOCK, ends)
  expire(HOLDS, ends)
  return true
end

local replies, others = {}, {}
for i = 1, #KEYS / 2 do
  local at = 5 * i
  local item = { index = i, name = KEYS[2 * i - 1], lock = KEYS[2 * i], interop = ARGV[at] == '1',
    kind = tonumber(ARGV[at + 1]), owner = ARGV[at + 2], fence = tonumber(ARGV[at + 3]),
    lease = tonumber(ARGV[at + 4]) }
  local ok, done = pcall(renew_quickly, item)
  if ok and done then replies[i] = item.lease else table.insert(others, item) end
end
if #others == 0 then return replies end

--#include line.lua

local function renew(item)
  interop = item.interop
  open(item.name, item.lock, item.kind)
  local hold = kind == item.kind and find_exactly(item.owner, item.fence)
  local reply = item.lease
  if hold and hold.revoked == 1 then
    reply = 'forced'
  elseif hold then
    insist()
    confirm(item.owner, hold, now + item.lease)
    serve_line()
  else
    serve_line()
    reply = 'gone'
  end
  close()
  if reply ~= item.lease then insist() end
  return reply
end

for _, item in ipairs(others) do
  local ok, reply = pcall(renew, item)
  if not ok then
    reply = redis.error_reply(type(reply) == 'table' and reply.err or tostring(reply))
  end
  replies[item.index] = reply
end
return replies
