-- The line of one lock, and who is next (rules/lock_entry.hpp).
--#include lock.lua

local STAND_BACK = 20000 -- how long a released lock is left to Redisson's waiters, if there are some
local STAND_BACK_UNSEEN = 5000 -- and if there may be some that cannot be seen
local OUR_PLACE = 'holdfast' -- among Redisson's fair waiters
local FAIR_WAIT = 300000 -- ms by which their scores are usually apart

-- --- places ---

local function read_waiting(owner)
  local packed = redis.call('HGET', LOCK, 'w' .. owner)
  if not packed then return nil end
  local p = cmsgpack.unpack(packed)
  return { form = p[1], take = p[2], of = p[3], spare = p[4], confirm = p[5], old = p[6], old_fence = p[7],
    record = p[8], behind = p[9], listens = p[10] }
end

local function head_of_line()
  if waiting == 0 then return nil end
  local head = redis.call('ZRANGE', LINE, 0, 0)[1]
  return head, head and read_waiting(head)
end

local function leave_line(owner)
  if waiting == 0 or redis.call('ZREM', LINE, owner) == 0 then return end
  redis.call('ZREM', LAPSE, owner)
  redis.call('HDEL', LOCK, 'w' .. owner)
  waiting = waiting - 1
  changed = true
end

-- At the end, or, to exchange a hold, at the head; whoever stands in line keeps its place.
local function line_up(owner, ask, lapses)
  local place = redis.call('ZSCORE', LINE, owner)
  if not place then
    local end_of_line = ask.old ~= '' and 'ZRANGE' or 'ZREVRANGE'
    place = tonumber(redis.call(end_of_line, LINE, 0, 0, 'WITHSCORES')[2] or 0) + (ask.old ~= '' and -1 or 1)
    redis.call('ZADD', LINE, place, owner)
    waiting = waiting + 1
  else
    local before = read_waiting(owner)
    ask.behind = before and before.behind or ask.behind
  end
  redis.call('ZADD', LAPSE, lapses, owner)
  redis.call('HSET', LOCK, 'w' .. owner, cmsgpack.pack({ ask.form, ask.take, ask.of, ask.spare, ask.confirm,
    ask.old, ask.old_fence, ask.record, ask.behind, ask.listens }))
  if not of then of = ask.of end
  changed = true
end

local function drop_lapsed()
  if holds > 0 then
    local lapsed = redis.call('ZRANGEBYSCORE', HOLDS, '-inf', now, 'LIMIT', 0, MANY)
    many_lapsed = #lapsed == MANY
    for _, owner in ipairs(lapsed) do end_hold(owner) end
  end
  if waiting == 0 then return end
  for _, owner in ipairs(redis.call('ZRANGEBYSCORE', LAPSE, '-inf', now, 'LIMIT', 0, MANY)) do
    leave_line(owner)
  end
  -- Whoever exchanges a hold stands at the head; without that hold there is nothing to exchange.
  local head, ask = head_of_line()
  while head and (not ask or (ask.old ~= '' and not find_exactly(ask.old, ask.old_fence))) do
    leave_line(head)
    head, ask = head_of_line()
  end
end

local function open(name, lock, asked_kind)
  agree_with_redisson(read_lock(name, lock, asked_kind))
  drop_lapsed()
  if holds > 0 or waiting > 0 then return end
  of = nil -- what it was has lapsed this very moment, before its keys did
  if kind ~= asked_kind then
    changed = true
    close()
    agree_with_redisson(read_lock(name, lock, asked_kind))
  end
end

-- --- room ---

-- The first of Redisson's fair waiters that is alive, and the last of all; our own place is not one of them.
local function fair_waiters()
  if not interop or kind ~= MUTEX then return nil end
  local queue, timeouts = redisson('redisson_lock_queue'), redisson('redisson_lock_timeout')
  local head
  for _ = 1, MANY do
    local first = redis.call('LRANGE', queue, 0, 1)
    if first[1] == OUR_PLACE then table.remove(first, 1) end
    head = first[1]
    if not head then return nil end
    local score = redis.call('ZSCORE', timeouts, head)
    if not score or tonumber(score) > now / 1000 then break end
    redis.call('ZREM', timeouts, head)
    redis.call('LREM', queue, 1, head)
  end
  local last = redis.call('LRANGE', queue, -2, -1)
  if last[#last] == OUR_PLACE then table.remove(last) end
  return head, last[#last]
end

-- A fair holder of Redisson's tells nobody but the first in its queue. So our line has one place in there, as
-- long as it waits for one of Redisson's: OUR_PLACE, with a channel like everybody's. It lapses with our line;
-- behind others, whose scores go down by their own waiting time when one of them is served, that much later.
local function keep_place()
  if not interop or kind ~= MUTEX then return end
  local queue, timeouts = redisson('redisson_lock_queue'), redisson('redisson_lock_timeout')
  if waiting > 0 and holds == 0 and not occupied and (foreign or fair_waiters()) then
    local place = redis.pcall('LPOS', queue, OUR_PLACE)
    if type(place) ~= 'number' then place = redis.call('LLEN', queue) end
    local before = place > 0 and redis.call('LINDEX', queue, place - 1)
    local score = before and redis.call('ZSCORE', timeouts, before)
    local lapses = tonumber(redis.call('ZREVRANGE', LAPSE, 0, 0, 'WITHSCORES')[2] or now) / 1000
    if score then lapses = math.max(lapses, tonumber(score)) + FAIR_WAIT end
    if redis.call('ZADD', timeouts, math.ceil(lapses), OUR_PLACE) == 1 then redis.call('RPUSH', queue, OUR_PLACE) end
  elseif redis.call('ZREM', timeouts, OUR_PLACE) == 1 then
    redis.call('LREM', queue, 1, OUR_PLACE)
    if holds == 0 and not foreign then tell_mutex_is_free() end -- whoever was behind us
  end
end

-- Without a right to that queue we only learn later of fair holders that are gone.
local close_lock = close
close = function()
  pcall(keep_place)
  close_lock()
end

-- A claim comes after those of Redisson's fair waiters that were there when it lined up: `behind` is the
-- last of them. One that does not stand in line (nil) comes after all. When our place in their queue is the
-- first, they wait for us: it counts more than `behind`, who may have been served and have come back since.
local function fair_waiter_before(behind)
  local head = fair_waiters()
  if not head or behind == '' then return nil end
  if behind == nil then return head end
  local queue = redisson('redisson_lock_queue')
  if redis.call('LINDEX', queue, 0) == OUR_PLACE then return nil end
  local place = redis.pcall('LPOS', queue, behind)
  return type(place) == 'number' and head or nil
end

local function has_room(ask, behind)
  if kind == SEMAPHORE then return taken + ask.take <= permits(ask.of) end
  if occupied or (open_until and now < open_until) then return false end
  if foreign and (foreign.writer or ask.form == EXCLUSIVE) then return false end
  local old = ask.old ~= '' and find_exactly(ask.old, ask.old_fence)
  local others = holds - (old and 1 or 0)
  local other_writers = writers - (old and old.form == EXCLUSIVE and 1 or 0)
  local other_upgraders = upgraders - (old and old.form == UPGRADEABLE and 1 or 0)
  if ask.form == EXCLUSIVE and others > 0 then return false end
  if other_writers > 0 then return false end
  if ask.form == UPGRADEABLE and other_upgraders > 0 then return false end
  return not fair_waiter_before(behind)
end

-- --- hand-over ---

-- holdfast_wake:<client>: "offer <claim> <fence> <spare> <slots> <name>", slots separated by commas or -, or
-- "look <claim> <microseconds> <name>".
local function tell(owner, what, ...)
  local client, claim = owner:match('^(.*):(%d+)$')
  if not client then return 0 end
  return publish('PUBLISH', 'holdfast_wake:' .. client, table.concat({ what, claim, ... }, ' ') .. ' ' .. N)
end

local function tell_to_look(owner, after)
  return tell(owner, 'look', digits(after))
end

-- Gives the lock to the head for a short time, in which it has to confirm. One who did listen and certainly
-- does not any more is passed over: 'absent'. nil: no fences are left.
local function hand_over(head, ask)
  local fence, spare = next_fence(ask.spare)
  if not fence then return nil end
  local slots = take_slots(ask.take)
  local heard = tell(head, 'offer', digits(fence), digits(spare), #slots > 0 and table.concat(slots, ',') or '-')
  leave_line(head)
  if heard == 0 and silence_is_absence and ask.listens == 1 then
    for _, slot in ipairs(slots) do redis.call('SETBIT', SLOTS, slot, 0) end
    return 'absent'
  end
  take_fence(fence, spare)
  add_hold(head, { fence = fence, spare = spare, form = ask.form, take = ask.take, of = ask.of, offered = 1,
    revoked = 0, slots = slots, old = ask.old, old_fence = ask.old_fence, record = ask.record }, now + ask.confirm)
  return 'offered'
end

-- Offers the lock to heads of the line, up to this owner. False if the fences have run out.
local function serve_line(up_to)
  local slowest = 0
  local head, ask = head_of_line()
  for _ = 1, MANY do
    if not head or head == up_to or not has_room(ask, ask.behind) then break end
    local done = hand_over(head, ask)
    if not done then return false end
    if done == 'offered' then slowest = math.max(slowest, ask.confirm) end
    head, ask = head_of_line()
  end
  if slowest > 0 and head then tell_to_look(head, slowest) end
  return true
end

-- Those who want more than the size that was set ask again and are told so.
local function drop_hopeless()
  local there_are = size()
  if not there_are then return end
  for _, owner in ipairs(redis.call('ZRANGE', LINE, 0, -1)) do
    local ask = read_waiting(owner)
    if ask and ask.take > there_are then
      leave_line(owner)
      tell_to_look(owner, 0)
    end
  end
end

-- Whether Redisson's waiters get the next turn, and for how long. Those that listen can be seen, except from
-- another node of a cluster; then every eighth release is theirs. Seen or not, ours get their turns, too.
local function turn_of_redisson()
  if not interop or kind == SEMAPHORE or waiting == 0 then return nil end
  local _, ask = head_of_line()
  if ask and fair_waiter_before(ask.behind) then return STAND_BACK end
  local count = redis.pcall('PUBSUB', publish_command == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', channel())
  local seen = type(count) == 'table' and tonumber(count[2] or 0) or 0
  local sure = silence_is_absence or publish_command == 'SPUBLISH'
  if seen == 0 and sure then return nil end
  local turn = redis.call('HINCRBY', LOCK, 'turns', 1)
  if seen > 0 then return turn % 2 == 1 and STAND_BACK or nil end
  return turn % 8 == 0 and STAND_BACK_UNSEEN or nil
end

-- What follows a release: the turn of the next. It must not fail, the lock is free already.
local function pass_on()
  pcall(function()
    local stand_back = holds == 0 and not foreign and turn_of_redisson()
    if stand_back then
      open_until = now + stand_back
      redis.call('HSET', LOCK, 'open', digits(open_until))
      tell_to_look(head_of_line(), stand_back)
    end
    serve_line()
    -- Whoever ended may have been the only one that knew whose release to listen for.
    if foreign and waiting > 0 then tell_to_look(head_of_line(), 0) end
  end)
  pcall(close)
end
