-- What there is to see of one lock. Changes nothing.
--
-- Keys        1 N   2 holdfast_lock:{N}
-- Arguments   1-4 as in keys.lua
-- Replies     {kind, {hold...}, {place...}}, the first 1000 of each, or nil if nobody holds it or waits
--             hold: {owner, form, take, of, record, fence, lease left, offered, revoked}, in the order of
--             fences; those that are not ours first, with fence 0 and the record ''
--             place: {owner, form, take, of, record, 0, time left, 0, 0}
--#include line.lua

use(KEYS[1], KEYS[2])
only_looks = true
local asked = redis.call('TYPE', N).ok == 'hash' and redis.call('HEXISTS', N, 'mode') == 1 and SHARED or MUTEX
local ours = read_lock(KEYS[1], KEYS[2], asked)

local function all_of(key, read)
  local entries = {}
  local members = redis.call('ZRANGE', key, 0, MANY - 1, 'WITHSCORES')
  for i = 1, #members, 2 do
    local entry = read(members[i])
    if entry then
      entry.owner, entry.ends = members[i], tonumber(members[i + 1])
      table.insert(entries, entry)
    end
  end
  return entries
end

local function view(entry)
  return { entry.owner, entry.form, entry.take, entry.of, entry.record, entry.fence or 0, entry.ends - now,
    entry.offered or 0, entry.revoked or 0 }
end

local seen_holds, seen_line = {}, {}
if foreign and not occupied then
  for _, field in ipairs(foreign.fields) do
    local form = (kind == MUTEX or field:match(':write$')) and EXCLUSIVE or READER
    local owner = field:gsub(':write$', '')
    table.insert(seen_holds, view({ owner = owner, form = form, take = 1, of = 1, record = '',
      ends = foreign.ends }))
  end
end
local held = all_of(HOLDS, read_hold)
table.sort(held, function(a, b) return a.fence < b.fence end)
for _, hold in ipairs(held) do
  if hold.ends > now and (not ours or ours[hold.owner]) then table.insert(seen_holds, view(hold)) end
end
for _, owner in ipairs(redis.call('ZRANGE', LINE, 0, MANY - 1)) do
  local place = read_waiting(owner)
  local ends = tonumber(redis.call('ZSCORE', LAPSE, owner) or 0)
  if place and ends > now then
    place.owner, place.ends = owner, ends
    table.insert(seen_line, view(place))
  end
end
if #seen_holds + #seen_line == 0 then return nil end
return { kind, seen_holds, seen_line }
