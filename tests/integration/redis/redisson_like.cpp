#include "integration/redis/redisson_like.hpp"

namespace holdfast::test {

using store::redis::Reply;
using store::redis::Words;

namespace {

// With a { in the name Redisson adds none.
std::string tagged(const std::string& name) {
  return name.find('{') == std::string::npos ? "{" + name + "}" : name;
}
std::string prefixed(const std::string& prefix, const std::string& name) {
  return prefix + ":" + tagged(name);
}

std::string ms(std::chrono::milliseconds time) { return std::to_string(time.count()); }

// Keys: the hash. Arguments: lease, owner.
constexpr const char* kLock = R"lua(
  local hash, lease, owner = KEYS[1], ARGV[1], ARGV[2]
  if redis.call('EXISTS', hash) == 1 and redis.call('HEXISTS', hash, owner) == 0 then
    return redis.call('PTTL', hash)
  end
  redis.call('HINCRBY', hash, owner, 1)
  redis.call('PEXPIRE', hash, lease)
  return false
)lua";

// Keys: the hash, the token. Arguments: lease, owner.
constexpr const char* kFencedLock = R"lua(
  local hash, token, lease, owner = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
  if redis.call('EXISTS', hash) == 1 and redis.call('HEXISTS', hash, owner) == 0 then return -1 end
  local number = redis.call('INCR', token)
  redis.call('HINCRBY', hash, owner, 1)
  redis.call('PEXPIRE', hash, lease)
  return number
)lua";

// Keys: the hash, the channel. Arguments: lease, owner.
constexpr const char* kUnlock = R"lua(
  local hash, channel, lease, owner = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
  if redis.call('HEXISTS', hash, owner) == 0 then return -1 end
  if redis.call('HINCRBY', hash, owner, -1) > 0 then
    redis.call('PEXPIRE', hash, lease)
    return 0
  end
  redis.call('DEL', hash)
  redis.call('PUBLISH', channel, '0')
  return 1
)lua";

// Keys: the hash, the channel.
constexpr const char* kForceUnlock = R"lua(
  if redis.call('DEL', KEYS[1]) == 0 then return -1 end
  redis.call('PUBLISH', KEYS[2], '0')
  return 1
)lua";

// Keys: the hash, the beginning of the reader's own keys. Arguments: lease, owner.
constexpr const char* kReadLock = R"lua(
  local hash, own, lease, owner = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
  local mode = redis.call('HGET', hash, 'mode')
  if mode == 'write' and redis.call('HEXISTS', hash, owner .. ':write') == 0 then
    return redis.call('PTTL', hash)
  end
  if not mode then redis.call('HSET', hash, 'mode', 'read') end
  local count = redis.call('HINCRBY', hash, owner, 1)
  redis.call('SET', own .. ':' .. count, 1, 'PX', lease)
  redis.call('PEXPIRE', hash, math.max(redis.call('PTTL', hash), tonumber(lease)))
  return false
)lua";

// Keys: the hash, the channel, the beginning of the reader's own keys, of everybody's keys. Argument: owner.
// What nobody's own keys keep alive is deleted, whoever is in it.
constexpr const char* kReadUnlock = R"lua(
  local hash, channel, own, all, owner = KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1]
  local mode = redis.call('HGET', hash, 'mode')
  if not mode or redis.call('HEXISTS', hash, owner) == 0 then return -1 end
  local count = redis.call('HINCRBY', hash, owner, -1)
  if count == 0 then redis.call('HDEL', hash, owner) end
  redis.call('DEL', own .. ':' .. (count + 1))
  if redis.call('HLEN', hash) > 1 then
    local longest = -3
    for _, field in ipairs(redis.call('HKEYS', hash)) do
      local holds = tonumber(redis.call('HGET', hash, field))
      if type(holds) == 'number' then
        for i = holds, 1, -1 do
          longest = math.max(longest, redis.call('PTTL', all .. ':' .. field .. ':rwlock_timeout:' .. i))
        end
      end
    end
    if longest > 0 then
      redis.call('PEXPIRE', hash, longest)
      return 0
    end
    if mode == 'write' then return 0 end
  end
  redis.call('DEL', hash)
  redis.call('PUBLISH', channel, '0')
  return 1
)lua";

// Keys: the hash. Arguments: lease, owner.
constexpr const char* kWriteLock = R"lua(
  local hash, lease, field = KEYS[1], tonumber(ARGV[1]), ARGV[2] .. ':write'
  local mode = redis.call('HGET', hash, 'mode')
  if not mode then
    redis.call('HSET', hash, 'mode', 'write', field, 1)
    redis.call('PEXPIRE', hash, lease)
    return false
  end
  if mode == 'write' and redis.call('HEXISTS', hash, field) == 1 then
    redis.call('HINCRBY', hash, field, 1)
    redis.call('PEXPIRE', hash, redis.call('PTTL', hash) + lease)
    return false
  end
  return redis.call('PTTL', hash)
)lua";

// Keys: the hash, the channel. Arguments: lease, owner.
constexpr const char* kWriteUnlock = R"lua(
  local hash, channel, lease, field = KEYS[1], KEYS[2], ARGV[1], ARGV[2] .. ':write'
  if redis.call('HGET', hash, 'mode') ~= 'write' or redis.call('HEXISTS', hash, field) == 0 then return -1 end
  if redis.call('HINCRBY', hash, field, -1) > 0 then
    redis.call('PEXPIRE', hash, lease)
    return 0
  end
  redis.call('HDEL', hash, field)
  if redis.call('HLEN', hash) == 1 then
    redis.call('DEL', hash)
    redis.call('PUBLISH', channel, '1')
  else
    redis.call('HSET', hash, 'mode', 'read')
  end
  return 1
)lua";

// Keys: the hash, the queue, the timeouts. Arguments: lease, owner, wait, now in ms.
constexpr const char* kFairLock = R"lua(
  local hash, queue, timeouts = KEYS[1], KEYS[2], KEYS[3]
  local lease, owner, wait, now = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
  while true do
    local head = redis.call('LINDEX', queue, 0)
    local score = head and redis.call('ZSCORE', timeouts, head)
    if not score or tonumber(score) > now then break end
    redis.call('ZREM', timeouts, head)
    redis.call('LPOP', queue)
  end
  local head = redis.call('LINDEX', queue, 0)
  if redis.call('EXISTS', hash) == 0 and (not head or head == owner) then
    redis.call('LPOP', queue)
    redis.call('ZREM', timeouts, owner)
    for _, other in ipairs(redis.call('ZRANGE', timeouts, 0, -1)) do
      redis.call('ZINCRBY', timeouts, -wait, other)
    end
    redis.call('HSET', hash, owner, 1)
    redis.call('PEXPIRE', hash, lease)
    return false
  end
  if redis.call('HEXISTS', hash, owner) == 1 then
    redis.call('HINCRBY', hash, owner, 1)
    redis.call('PEXPIRE', hash, lease)
    return false
  end
  if redis.call('ZSCORE', timeouts, owner) then return math.max(0, redis.call('PTTL', hash)) end
  local last = redis.call('LINDEX', queue, -1)
  local score = last and last ~= owner and redis.call('ZSCORE', timeouts, last)
  local left = score and tonumber(score) - now or redis.call('PTTL', hash)
  if redis.call('ZADD', timeouts, left + wait + now, owner) == 1 then redis.call('RPUSH', queue, owner) end
  return left
)lua";

// Keys: the hash, the queue, the timeouts, the beginning of the channels. Argument: owner.
constexpr const char* kFairUnlock = R"lua(
  local hash, queue, channel, owner = KEYS[1], KEYS[2], KEYS[4], ARGV[1]
  if redis.call('HEXISTS', hash, owner) == 0 then return -1 end
  if redis.call('HINCRBY', hash, owner, -1) > 0 then return 0 end
  redis.call('DEL', hash)
  local head = redis.call('LINDEX', queue, 0)
  if head then redis.call('PUBLISH', channel .. ':' .. head, '0') end
  return 1
)lua";

constexpr const char* kChannel = "redisson_lock__channel";

}  // namespace

Reply RedissonLike::run(const char* script, const Words& keys, const Words& arguments) {
  Words words{"EVAL", script, std::to_string(keys.size())};
  words.insert(words.end(), keys.begin(), keys.end());
  words.insert(words.end(), arguments.begin(), arguments.end());
  return ask_(words);
}

RedissonLike::Left RedissonLike::left(const Reply& reply) {
  if (reply.is(Reply::Type::nil)) return std::nullopt;
  return reply.integer;
}

RedissonLike::Left RedissonLike::lock(const std::string& name, int thread) {
  return left(run(kLock, {name}, {ms(kLease), owner(thread)}));
}

RedissonLike::Left RedissonLike::read_lock(const std::string& name, int thread) {
  return left(run(kReadLock, {name, tagged(name) + ":" + owner(thread) + ":rwlock_timeout"},
                  {ms(kLease), owner(thread)}));
}

RedissonLike::Left RedissonLike::write_lock(const std::string& name, int thread) {
  return left(run(kWriteLock, {name}, {ms(kLease), owner(thread)}));
}

RedissonLike::Left RedissonLike::fair_lock(const std::string& name, int thread,
                                           std::chrono::milliseconds wait) {
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  return left(
      run(kFairLock,
          {name, prefixed("redisson_lock_queue", name), prefixed("redisson_lock_timeout", name)},
          {ms(kLease), owner(thread), ms(wait), ms(now)}));
}

std::int64_t RedissonLike::fenced_lock(const std::string& name, int thread) {
  return run(kFencedLock, {name, prefixed("redisson_lock_token", name)},
             {ms(kLease), owner(thread)})
      .integer;
}

bool RedissonLike::unlock(const std::string& name, int thread) {
  return run(kUnlock, {name, prefixed(kChannel, name)}, {ms(kLease), owner(thread)}).integer >= 0;
}

bool RedissonLike::read_unlock(const std::string& name, int thread) {
  return run(kReadUnlock,
             {name, prefixed("redisson_rwlock", name),
              tagged(name) + ":" + owner(thread) + ":rwlock_timeout", tagged(name)},
             {owner(thread)})
             .integer >= 0;
}

bool RedissonLike::write_unlock(const std::string& name, int thread) {
  return run(kWriteUnlock, {name, prefixed("redisson_rwlock", name)}, {ms(kLease), owner(thread)})
             .integer >= 0;
}

bool RedissonLike::fair_unlock(const std::string& name, int thread) {
  return run(kFairUnlock,
             {name, prefixed("redisson_lock_queue", name), prefixed("redisson_lock_timeout", name),
              prefixed(kChannel, name)},
             {owner(thread)})
             .integer >= 0;
}

bool RedissonLike::force_unlock(const std::string& name) {
  return run(kForceUnlock, {name, prefixed(kChannel, name)}, {}).integer >= 0;
}

// --- by the sort of lock ---

RedissonLike::Left RedissonLike::lock(JavaLock sort, const std::string& name, int thread) {
  switch (sort) {
    case JavaLock::fenced:
      if (fenced_lock(name, thread) >= 0) return std::nullopt;
      return ask_({"PTTL", name}).integer;
    case JavaLock::fair:
      return fair_lock(name, thread);
    case JavaLock::read:
      return read_lock(name, thread);
    case JavaLock::write:
      return write_lock(name, thread);
    default:
      return lock(name, thread);
  }
}

bool RedissonLike::unlock(JavaLock sort, const std::string& name, int thread) {
  switch (sort) {
    case JavaLock::fair:
      return fair_unlock(name, thread);
    case JavaLock::read:
      return read_unlock(name, thread);
    case JavaLock::write:
      return write_unlock(name, thread);
    default:
      return unlock(name, thread);
  }
}

std::string RedissonLike::channel(JavaLock sort, const std::string& name, int thread) {
  switch (sort) {
    case JavaLock::fair:
      return prefixed(kChannel, name) + ":" + owner(thread);
    case JavaLock::read:
    case JavaLock::write:
      return prefixed("redisson_rwlock", name);
    default:
      return prefixed(kChannel, name);
  }
}

std::int64_t RedissonLike::token(const std::string& name) {
  return std::stoll(ask_({"GET", prefixed("redisson_lock_token", name)}).text);
}

}  // namespace holdfast::test
