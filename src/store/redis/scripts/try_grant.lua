-- One attempt to get a lock, or to confirm an offer of it.
--
-- Keys        1 N   2 holdfast_lock:{N}
-- Arguments   1-4 as in keys.lua   5 kind   6 owner   7 form   8 take   9 of   10 lease   11 spare   12 record
--             13 whether to line up if refused (1 or 0)   14 for how long   15 how long an offer waits
--             16, 17 owner and fence of the hold that is exchanged, or '' and 0
--             18 whether its client's channel is listened to already (1 or 0).   Times in microseconds
-- Replies     {granted, fence, spare, lease, slot...}
--             {refused, holder, its record, lease left, retry after, ahead, waiting, fence counter,
--              whether the holder or the next one is not ours (1 or 0)}   no holder: '', ''
--             {rejected, kind, the kind it is}   {rejected, foreign}: N is nothing of ours
--             {rejected, size, there are, asked of}   {rejected, many, there are, asked for}
--             {rejected, lost}   {rejected, forced}: the hold to be exchanged   {rejected, full}: no fences left
--#include quick.lua

-- A mutex that nobody has and nobody waits for.
if ARGV[5] == '0' then
  local name, lock, owner = KEYS[1], KEYS[2], ARGV[6]
  local tag = lock:sub(#'holdfast_lock:' + 1)
  local holds, line = 'holdfast_holds:' .. tag, 'holdfast_line:' .. tag
  local redisson = ARGV[1] == '1' and (name:find('{', 1, true) and name or '{' .. name .. '}')
  local queue = redisson and 'redisson_lock_queue:' .. redisson or line
  if redis.call('EXISTS', name, lock, holds, line, queue) == 0 then
    local counter_key = redisson and 'redisson_lock_token:' .. redisson or 'holdfast_fence:' .. tag
    local now = clock()
    local fence, spare = fence_after(tonumber(redis.call('GET', counter_key) or nil), now, tonumber(ARGV[11]))
    if fence then
      local ends = now + tonumber(ARGV[10])
      local expires = digits(math.ceil(ends / 1000)) -- never earlier: Redis counts in milliseconds
      redis.call('SET', counter_key, digits(fence + spare)) -- first: it is what fails if memory is short
      if not redisson then redis.call('PEXPIREAT', counter_key, digits(math.ceil(math.max(now, fence) / 1000 + tonumber(ARGV[4])))) end
      redis.call('HSET', lock, 'kind', '0', 'of', '1', 'holds', '1', 'writers', '1', 'h' .. owner,
        cmsgpack.pack({ fence, spare, 0, 1, 1, 0, 0, {}, '', 0, ARGV[12] })) -- as pack_hold() does
      redis.call('ZADD', holds, digits(ends), owner)
      redis.call('PEXPIREAT', lock, expires)
      redis.call('PEXPIREAT', holds, expires)
      redis.call('HSET', name, owner, '1')
      redis.call('PEXPIREAT', name, expires)
      return { 'granted', fence, spare, tonumber(ARGV[10]) }
    end
  end
end

--#include line.lua

local asked_kind, owner = tonumber(ARGV[5]), ARGV[6]
local lease, wants_line = tonumber(ARGV[10]), ARGV[13] == '1'
local ask = { form = tonumber(ARGV[7]), take = tonumber(ARGV[8]), of = tonumber(ARGV[9]),
  spare = tonumber(ARGV[11]), record = ARGV[12], confirm = tonumber(ARGV[15]), old = ARGV[16],
  old_fence = tonumber(ARGV[17]), behind = '', listens = tonumber(ARGV[18]) }

-- Why this claim can never be granted as things are.
local function objection(own)
  if kind ~= asked_kind then return { 'rejected', 'kind', kind } end
  if occupied == 'mutex' then return { 'rejected', 'kind', MUTEX } end
  if occupied == 'shared' then return { 'rejected', 'kind', SHARED } end
  if occupied and not own then return { 'rejected', 'foreign' } end
  if kind == SEMAPHORE and not own then
    local there_are = permits(ask.of)
    if there_are ~= ask.of and not size() then return { 'rejected', 'size', there_are, ask.of } end
    if ask.take > there_are then return { 'rejected', 'many', there_are, ask.take } end
  end
  if ask.old == '' or own then return nil end
  local old = find_exactly(ask.old, ask.old_fence)
  if not old then return { 'rejected', 'lost' } end
  if old.revoked == 1 then return { 'rejected', 'forced' } end
  return nil
end

-- Not by unpack(): there may be more slots than a function returns.
local function granted(fence, spare, slots)
  local reply = { 'granted', fence, spare, lease }
  for i, slot in ipairs(slots) do reply[4 + i] = slot end
  return reply
end

local function grant()
  local fence, spare = next_fence(ask.spare)
  if not fence then return { 'rejected', 'full' } end
  take_fence(fence, spare) -- first: it is what fails if memory is short
  leave_line(owner)
  if ask.old ~= '' and find_exactly(ask.old, ask.old_fence) then end_hold(ask.old) end
  local slots = take_slots(ask.take)
  add_hold(owner, { fence = fence, spare = spare, form = ask.form, take = ask.take, of = ask.of, offered = 0,
    revoked = 0, slots = slots, old = '', old_fence = 0, record = ask.record }, now + lease)
  serve_line() -- readers behind a reader
  return granted(fence, spare, slots)
end

local NO_SCORE = 1000000 -- how long one waits for a fair waiter of whom nobody knows how long it waits

-- How long, without a wake, until it can be this one's turn: the holder may lapse, then each claim ahead
-- may let its offer lapse. Of a long line the first ones do: nobody sleeps that long.
local function refusal()
  local ahead = redis.call('ZRANK', LINE, owner) or waiting
  local holder, record, turn, not_ours = '', '', now, 0
  if holds > 0 then
    if kind == SEMAPHORE then holder, turn = first_end() else holder, turn = last_end() end
    record = read_hold(holder).record
  end
  if foreign then not_ours = 1 end
  if foreign and foreign.ends > turn then holder, record, turn = foreign.owner, '', foreign.ends end
  local fair = holds == 0 and not foreign and fair_waiters()
  local left = turn - now
  if fair then -- until it takes it, or may be dropped
    holder, not_ours = fair, 1
    local score = redis.call('ZSCORE', redisson('redisson_lock_timeout'), fair)
    turn = math.max(turn, score and tonumber(score) * 1000 or now + NO_SCORE)
  end
  if open_until and open_until > turn then turn = open_until end
  for _, other in ipairs(ahead > 0 and redis.call('ZRANGE', LINE, 0, math.min(ahead, 32) - 1) or {}) do
    turn = turn + read_waiting(other).confirm
  end
  return { 'refused', holder, record, left, turn - now, ahead, waiting, fence_counter() or 0, not_ours }
end

open(KEYS[1], KEYS[2], asked_kind)
local own = kind == asked_kind and find(owner) or nil
local reply = objection(own)
if reply then
  if reply[2] == 'size' or reply[2] == 'many' then -- it was made smaller meanwhile
    leave_line(owner)
    serve_line()
  end
elseif own and own.revoked == 0 then
  -- The same owner again: its first answer was lost, or it confirms an offer.
  reply = granted(own.fence, own.spare, own.slots)
  own.record = ask.record
  insist()
  save_hold(owner, own)
  confirm(owner, own, now + lease)
  serve_line()
elseif ask.old == '' and not serve_line(owner) then
  reply = { 'rejected', 'full' }
else
  -- What an upgrade waits for is in its way only because of others: it does not stand in line.
  local head, head_ask = head_of_line()
  local behind = nil
  if head == owner then behind = head_ask.behind end
  local is_next = ask.old ~= '' or not head or head == owner
  if not own and is_next and has_room(ask, behind) then
    reply = grant()
  else
    if wants_line and not own then -- a revoked holder that lines up leaves a ghost
      local _, last = fair_waiters()
      ask.behind = last or ''
      line_up(owner, ask, now + tonumber(ARGV[14]))
    else
      leave_line(owner)
    end
    serve_line()
    reply = refusal()
  end
end
close()
if reply[1] ~= 'granted' then insist() end
return reply
