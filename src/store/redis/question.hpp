#pragma once

#include <chrono>
#include <cstdint>

#include "holdfast/store/lock_name.hpp"
#include "holdfast/time.hpp"
#include "store/redis/resp.hpp"
#include "store/redis/script.hpp"

namespace holdfast::store::redis {

// What the scripts have to know about the server and its other users.
struct Settings {
  // Whether Redisson's clients use the same locks: its token counter is raised, its channels and its
  // readers' keys are served.
  bool interop = true;
  // Redisson's channels are sharded ones (SPUBLISH), as it does on a cluster of Redis 7.
  bool sharded_channels = false;
  // A message that nobody heard proves that nobody listens: only on a server that is not part of a cluster.
  bool silence_is_absence = true;
  // Keys of one lock must lie in one slot. Redisson's names do not for some names with braces; such locks are
  // taken as without interop.
  bool cluster = false;
  // How long an unused fence counter stays without interop. A new one starts above it, by the server's clock.
  Duration fence_idle = std::chrono::hours(24);
};

// Whether Redisson can use that lock, too.
bool shared_with_redisson(const LockName&, const Settings&);

// A script to run.
struct Question {
  const Script* script = nullptr;
  Words keys{};
  Words arguments{};
};

// A script about one lock, with the first arguments that all of them have.
Question about(const LockName&, const Script&, const Settings&);
Words first_arguments(const LockName&, const Settings&);
void append(Words& words, Words more);

// EVALSHA, or EVAL for a server that answered NOSCRIPT.
enum class ScriptAs : std::uint8_t { sha1, text };
Words words_of(const Question&, ScriptAs);

}  // namespace holdfast::store::redis
