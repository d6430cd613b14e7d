-- The keys of one lock, a hold as it is packed, and fences: what every script needs.
--
--   N                    hash, Redisson's: owner -> 1; of a shared mutex also mode, and owner:write of a writer
--   holdfast_lock:{N}    hash: kind, of, holds, taken, writers, upgraders, turns, open; h<owner> a packed
--                        hold, w<owner> a packed place in line. There as long as anybody holds or waits
--   holdfast_holds:{N}   zset: owner -> end of its lease
--   holdfast_line:{N}    zset: owner -> place
--   holdfast_lapse:{N}   zset: owner -> when its place lapses
--   holdfast_slots:{N}   bits: permits that are taken
--   holdfast_fence:{N}   the newest fence or spare; with interop redisson_lock_token:{N}
--
-- Our line has a place in Redisson's queue of fair waiters while it waits for one of them (line.lua).
--
-- Arguments of every script that includes this: 1 interop (1 or 0), 2 PUBLISH or SPUBLISH for Redisson's
-- channels, 3 whether a message that nobody heard proves that nobody listens (1 or 0), 4 ms after which an
-- unused fence counter may go (without interop).
--#include clock.lua

local MUTEX, SHARED, SEMAPHORE = 0, 1, 2
local EXCLUSIVE, READER, UPGRADEABLE = 0, 1, 2
local MANY = 1000 -- of what one script does of a kind; the rest is left to the next

local interop = ARGV[1] == '1'
local publish_command = ARGV[2]
local silence_is_absence = ARGV[3] == '1'

local N, LOCK, HOLDS, LINE, LAPSE, SLOTS, FENCE, SIZE

-- Redisson's names: only the { is looked for.
local function redisson(prefix)
  return prefix .. ':' .. (N:find('{', 1, true) and N or '{' .. N .. '}')
end

local function use(name, lock)
  local tag = lock:sub(#'holdfast_lock:' + 1)
  N, LOCK = name, lock
  HOLDS, LINE, LAPSE = 'holdfast_holds:' .. tag, 'holdfast_line:' .. tag, 'holdfast_lapse:' .. tag
  SLOTS, SIZE = 'holdfast_slots:' .. tag, 'holdfast_cell:size:' .. tag
  FENCE = interop and redisson('redisson_lock_token') or 'holdfast_fence:' .. tag
end

local function pack_hold(hold)
  return cmsgpack.pack({ hold.fence, hold.spare, hold.form, hold.take, hold.of, hold.offered, hold.revoked,
    hold.slots, hold.old, hold.old_fence, hold.record })
end

local function unpack_hold(packed)
  local p = cmsgpack.unpack(packed)
  return { fence = p[1], spare = p[2], form = p[3], take = p[4], of = p[5], offered = p[6], revoked = p[7],
    slots = p[8], old = p[9], old_fence = p[10], record = p[11] }
end

local function fence_counter()
  local counter = redis.call('GET', FENCE)
  return counter and tonumber(counter)
end

local function next_fence(spare)
  return fence_after(fence_counter(), now, spare)
end

local function take_fence(fence, spare)
  redis.call('SET', FENCE, digits(fence + spare))
  if not interop then expire(FENCE, math.max(now, fence) + tonumber(ARGV[4]) * 1000) end -- Redisson never lets it expire
end

-- As Redisson does when a mutex is free: one waiter of each client, and the first of the fair ones.
local function tell_mutex_is_free()
  local channel = redisson('redisson_lock__channel')
  publish(publish_command, channel, '0')
  local head = redis.pcall('LINDEX', redisson('redisson_lock_queue'), 0)
  if type(head) == 'string' then publish(publish_command, channel .. ':' .. head, '0') end
end
