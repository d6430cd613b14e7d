-- One lock: what is stored of it, and the rules for a single hold (rules/lock_entry.hpp has them in C++,
-- under the same names).
--#include keys.lua

local kind, of, taken, writers, upgraders, open_until
local holds, waiting -- how many
local occupied -- N is something of another kind: 'mutex', 'shared' or 'other'
local foreign -- who holds N and is not ours: {owner, ends, writer, fields}
local many_lapsed, changed, writer_ended, reader_ended
local only_looks = false -- nothing may be written

local function reader_key(field, i)
  return (N:find('{', 1, true) and N or '{' .. N .. '}') .. ':' .. field .. ':rwlock_timeout:' .. i
end

local function channel()
  return redisson(kind == MUTEX and 'redisson_lock__channel' or 'redisson_rwlock')
end

-- --- holds ---

local function field_of(owner, hold)
  return kind == SHARED and hold.form == EXCLUSIVE and owner .. ':write' or owner
end

local function read_hold(owner)
  local packed = redis.call('HGET', LOCK, 'h' .. owner)
  return packed and unpack_hold(packed) or nil
end

local function end_of(owner)
  return tonumber(redis.call('ZSCORE', HOLDS, owner) or 0)
end

local function first_end()
  local first = redis.call('ZRANGE', HOLDS, 0, 0, 'WITHSCORES')
  return first[1], tonumber(first[2] or 0)
end

local function last_end()
  local last = redis.call('ZREVRANGE', HOLDS, 0, 0, 'WITHSCORES')
  return last[1], tonumber(last[2] or 0)
end

local function count_hold(hold, by)
  holds = holds + by
  if kind == SEMAPHORE then taken = taken + by * hold.take end
  if hold.form == EXCLUSIVE then writers = writers + by end
  if hold.form == UPGRADEABLE then upgraders = upgraders + by end
  changed = true
end

-- Redisson's key first: whatever happens then, the lock is free.
local function end_hold(owner)
  local hold = read_hold(owner)
  if hold and kind ~= SEMAPHORE and occupied ~= 'other' then
    redis.call('HDEL', N, field_of(owner, hold))
    if kind == SHARED and hold.form ~= EXCLUSIVE and interop then redis.call('DEL', reader_key(owner, 1)) end
  end
  local counted = redis.call('ZREM', HOLDS, owner) == 1
  redis.call('HDEL', LOCK, 'h' .. owner)
  if not hold or not counted then return end
  count_hold(hold, -1)
  for _, slot in ipairs(hold.slots) do redis.call('SETBIT', SLOTS, slot, 0) end
  if hold.form == EXCLUSIVE then writer_ended = true else reader_ended = true end
end

-- A reader's own key is what keeps it alive when a reader of Redisson's leaves.
local function keep_hold(owner, hold, ends)
  redis.call('ZADD', HOLDS, ends, owner)
  if kind == MUTEX then expire(N, ends) end
  if kind == SHARED and hold.form ~= EXCLUSIVE and interop then
    redis.call('SET', reader_key(owner, 1), '1')
    expire(reader_key(owner, 1), ends)
  end
  changed = true
end

local function save_hold(owner, hold)
  redis.call('HSET', LOCK, 'h' .. owner, pack_hold(hold))
end

-- Redisson's key is written last, and its end right behind it: it never stays for good.
local function add_hold(owner, hold, ends)
  save_hold(owner, hold)
  if kind == MUTEX then redis.call('HSET', N, owner, 1) end
  keep_hold(owner, hold, ends)
  if kind == SHARED then
    redis.call('HSETNX', N, 'mode', 'read')
    redis.call('HSET', N, field_of(owner, hold), 1)
    expire(N, math.max(ends, left_of(N) + now))
  end
  count_hold(hold, 1)
  if not of then of = hold.of end
  if open_until then redis.call('HDEL', LOCK, 'open') end
  open_until = nil
end

-- A write that changes nothing. Where memory is short, Redis stops a script at its first write that might need
-- some, but not one that has written already: this comes before what must go on even then. And a replica, which
-- may know only what was true some time ago, refuses it: this comes with every answer that nothing was written for.
local function insist()
  redis.call('HDEL', LOCK, '-')
end

-- The hold of that owner, if Redisson's key agrees: it may have been deleted there.
local function find(owner)
  local hold = holds > 0 and read_hold(owner)
  if not hold or (many_lapsed and end_of(owner) <= now) then return nil end
  if kind ~= SEMAPHORE and redis.call('HEXISTS', N, field_of(owner, hold)) == 0 then
    end_hold(owner)
    return nil
  end
  return hold
end

local function find_exactly(owner, fence)
  local hold = find(owner)
  return hold and hold.fence == fence and hold or nil
end

-- The old hold of an up- or downgrade goes when the new one is confirmed.
local function confirm(owner, hold, ends)
  local old, old_fence = hold.old, hold.old_fence
  if hold.offered == 1 then
    hold.offered, hold.old, hold.old_fence = 0, '', 0
    save_hold(owner, hold)
  end
  keep_hold(owner, hold, ends)
  if old ~= '' and find_exactly(old, old_fence) then end_hold(old) end
end

-- --- permits ---

-- How many there are if that was set.
local function size()
  if kind ~= SEMAPHORE then return nil end
  local value = redis.call('HGET', SIZE, 'value')
  if not value or #value > 6 or not value:match('^[1-9]%d*$') then return nil end
  return tonumber(value) <= 100000 and tonumber(value) or nil
end

local function permits(asked_of)
  return size() or of or asked_of
end

-- Anew: somebody deleted or evicted the key.
local function mark_slots()
  for _, owner in ipairs(redis.call('ZRANGE', HOLDS, 0, -1)) do
    local hold = read_hold(owner)
    for _, slot in ipairs(hold and hold.slots or {}) do redis.call('SETBIT', SLOTS, slot, 1) end
  end
end

local function take_slots(take)
  local slots = {}
  if kind ~= SEMAPHORE or take > MANY then return slots end -- so many that nobody counts them
  if taken > 0 and redis.call('EXISTS', SLOTS) == 0 then mark_slots() end
  for i = 1, take do
    slots[i] = redis.call('BITPOS', SLOTS, 0)
    redis.call('SETBIT', SLOTS, slots[i], 1)
  end
  return slots
end

-- --- Redisson's side ---

-- Fields of a shared mutex that are not ours; those of readers whose keys have lapsed do not count.
local function look_at_fields()
  local fields, seen = redis.call('HGETALL', N), {}
  for i = 1, #fields, 2 do
    local field, count = fields[i], tonumber(fields[i + 1])
    local owner = field:gsub(':write$', '')
    local writer = owner ~= field
    local ours = redis.call('HEXISTS', LOCK, 'h' .. owner) == 1
    if ours then seen[owner] = true end
    if field ~= 'mode' and not ours then
      local left = writer and left_of(N) or 0
      for hold = 1, writer and 0 or math.min(count or 0, MANY) do
        left = math.max(left, left_of(reader_key(field, hold)))
      end
      foreign = foreign or { owner = owner, ends = now, writer = false, fields = {}, dead = {} }
      table.insert(left > 0 and foreign.fields or foreign.dead, field)
      if left > 0 and now + left > foreign.ends then foreign.owner, foreign.ends = owner, now + left end
      foreign.writer = foreign.writer or (writer and left > 0)
    end
  end
  return seen
end

-- Their number alone does not tell: ours may have ended with N, and others have taken it since.
local function all_are_ours()
  local ours = { mode = true }
  for _, owner in ipairs(redis.call('ZRANGE', HOLDS, 0, -1)) do ours[owner] = true end
  for _, field in ipairs(redis.call('HKEYS', N)) do
    if not ours[(field:gsub(':write$', ''))] then return false end
  end
  return true
end

-- A mutex of Redisson's has one field, how often its owner has it. Anything else is somebody's data.
local function lone_holder()
  local field = redis.call('HGETALL', N)
  return field[2]:match('^%d+$') and field[1]
end

-- Finds out who is in N. Answers which of our holds are there, as a set, if some may be missing.
local function look_at_redisson()
  if kind == SEMAPHORE then
    if redis.call('EXISTS', N) == 1 then occupied = 'other' end
    return nil
  end
  local count = redis.pcall('HLEN', N)
  if type(count) ~= 'number' then
    occupied = 'other'
    return {}
  end
  if count == 0 then return holds > 0 and {} or nil end
  local mode = redis.call('HGET', N, 'mode')
  if (kind == SHARED) ~= (mode and true or false) then
    occupied = mode and 'shared' or 'mutex'
    foreign = { owner = '', ends = now + left_of(N), writer = true, fields = {}, dead = {} }
    return {}
  end
  if kind == SHARED then
    if count == holds + 1 and all_are_ours() then return nil end
    return look_at_fields()
  end
  local holder = count == 1 and lone_holder()
  if not holder then
    occupied = 'other'
    return {}
  end
  if holds == 1 and redis.call('HEXISTS', LOCK, 'h' .. holder) == 1 then return nil end
  foreign = { owner = holder, ends = now + left_of(N), writer = true, fields = { holder }, dead = {} }
  return {}
end

-- What was deleted in N is not held any more, and nobody holds by a field whose time is over.
local function agree_with_redisson(seen)
  if seen and holds > 0 then
    for _, owner in ipairs(redis.call('ZRANGE', HOLDS, 0, MANY - 1)) do
      if not seen[owner] then end_hold(owner) end
    end
  end
  if not foreign then return end
  if open_until then -- it was left to them, and they took it
    redis.call('HDEL', LOCK, 'open')
    open_until = nil
  end
  for _, field in ipairs(foreign.dead) do redis.call('HDEL', N, field) end
  if kind == SHARED and not occupied and #foreign.fields == 0 then
    foreign = nil
    changed = true
  end
end

-- --- opening and closing ---

-- A server that is short of memory may have evicted the one key or the other, or somebody deleted it. What is
-- left would keep others out for good. Redisson's key stays, and with it the lock for what is left of the
-- lease: its holder does not know yet.
local function drop_leftovers(stored_holds)
  if only_looks then return end
  if not stored_holds then
    if redis.call('EXISTS', HOLDS, LINE, LAPSE, SLOTS) > 0 then redis.call('DEL', HOLDS, LINE, LAPSE, SLOTS) end
  elseif holds == 0 and stored_holds > 0 then
    for _, field in ipairs(redis.call('HKEYS', LOCK)) do
      if field:match('^h.*:') then redis.call('HDEL', LOCK, field) end
    end
    redis.call('DEL', SLOTS)
    taken, writers, upgraders, changed = 0, 0, 0, true
  end
end

-- Reads what is stored; of a lock that nobody uses the kind is the one that is asked for.
local function read_lock(name, lock, asked_kind)
  use(name, lock)
  of, open_until, occupied, foreign = nil, nil, nil, nil
  taken, writers, upgraders, holds, waiting = 0, 0, 0, 0, 0
  many_lapsed, changed, writer_ended, reader_ended = false, false, false, false
  local stored = redis.call('HMGET', LOCK, 'kind', 'of', 'taken', 'writers', 'upgraders', 'open', 'holds')
  kind = tonumber(stored[1] or asked_kind)
  if stored[1] then
    of, taken, writers = tonumber(stored[2] or nil), tonumber(stored[3] or 0), tonumber(stored[4] or 0)
    upgraders = tonumber(stored[5] or 0)
    open_until = tonumber(stored[6] or nil)
    holds, waiting = redis.call('ZCARD', HOLDS), redis.call('ZCARD', LINE)
  end
  drop_leftovers(stored[1] and tonumber(stored[7] or 0))
  return look_at_redisson()
end

-- The mode of a shared mutex and the end of Redisson's key follow from the holds.
local function save_redisson()
  if kind ~= SHARED or occupied then return end
  if holds == 0 and not foreign then
    redis.call('DEL', N)
  elseif holds > 0 then
    if writers > 0 then
      redis.call('HSET', N, 'mode', 'write')
    elseif not foreign then
      redis.call('HSET', N, 'mode', 'read')
    end
    local _, ends = last_end()
    expire(N, math.max(ends, foreign and now + left_of(N) or 0))
  end
end

-- As Redisson does when a lock is free: 1 wakes all, 0 one of each client.
local function tell_redisson()
  if not interop or kind == SEMAPHORE or foreign then return end
  if kind == SHARED and writer_ended and writers == 0 then
    publish(publish_command, channel(), '1')
  elseif kind == SHARED and reader_ended and holds == 0 then
    publish(publish_command, channel(), '0')
  elseif kind == MUTEX and writer_ended and holds == 0 then
    tell_mutex_is_free()
  end
end

local function close()
  if not changed then return end
  if holds == 0 and waiting == 0 then
    redis.call('DEL', LOCK, HOLDS, LINE, LAPSE, SLOTS)
  else
    redis.call('HSET', LOCK, 'kind', kind, 'of', of or 1, 'holds', holds, 'taken', taken, 'writers', writers,
      'upgraders', upgraders)
    local _, ends = last_end()
    if waiting > 0 then
      ends = math.max(ends, tonumber(redis.call('ZREVRANGE', LAPSE, 0, 0, 'WITHSCORES')[2] or 0))
      expire(LINE, ends)
      expire(LAPSE, ends)
    end
    expire(LOCK, ends)
    expire(HOLDS, ends)
    if kind == SEMAPHORE then expire(SLOTS, ends) end
  end
  save_redisson()
  tell_redisson()
end
