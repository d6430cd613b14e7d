// Bugs on purpose in the models of stores and machines, beside those of the engine (core/planted.hpp):
// what an author of a store gets wrong, or reads the wrong clock for. The same program plants both;
// HOLDFAST_MODEL_BUG(...) is `false` in the other one.
#pragma once

#include <cstdint>

namespace holdfast::sim {

#define HOLDFAST_MODEL_BUGS(X)                                                                  \
  X(stale_follower_renews, "a cut-off follower answers a renewal from its stale state")         \
  X(newest_sync_counts, "half the session counts from the newest sync, whatever was before it") \
  X(expiry_keeps_entries, "the entries of an expired session stay, so nobody is woken")         \
  X(deposed_leader_counts, "what a leader answers without a majority counts as the leader's")   \
  X(resumed_hello_counts, "a session that goes on at a deposed leader counts from its hello")   \
  X(session_reborn, "an expired session comes back under its old id with its entries")          \
  X(create_twice, "after a lost reply the entry is created a second time")                      \
  X(delete_once, "an unanswered delete is not repeated while the session lives")                \
  X(old_stream_writes, "the leader takes writes from a connection that was given up")           \
  X(fence_of_client, "the fence comes from the client's own counter")                           \
  X(order_by_name, "entries are sorted by their owner's name, not by their sequence number")    \
  X(writer_minds_writers, "a writer looks only for writers before it")                          \
  X(permits_overtake, "who wants few permits overtakes those who want many")                    \
  X(election_ends_sessions, "a new leader takes all sessions for expired")                      \
  X(fences_restart, "the fences of a store that forgot everything start again from one")        \
  X(repeat_counts, "a repeated attempt of a holder counts as a second hold")                    \
  X(counts_by_wall, "leases are counted by the wall clock, which is set now and then")          \
  X(clock_sleeps, "leases are counted by a clock that stands while the host is suspended")

enum class ModelBug : std::uint8_t {
  none,
#define X(name, text) name,
  HOLDFAST_MODEL_BUGS(X)
#undef X
};

#ifdef HOLDFAST_PLANTED_BUGS
inline ModelBug planted_model_bug = ModelBug::none;  // set before the first schedule is run
#define HOLDFAST_MODEL_BUG(bug) \
  (::holdfast::sim::planted_model_bug == ::holdfast::sim::ModelBug::bug)
#else
#define HOLDFAST_MODEL_BUG(bug) false
#endif

}  // namespace holdfast::sim
