#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/bench/rival.hpp"
#include "holdfast/client.hpp"
#include "holdfast/time.hpp"

namespace holdfast::cli {

inline constexpr int kBenchThreads = 16;

// Pairs of acquire and release in a second, once for each round.
struct Rates {
  std::vector<double> raw{};            // empty: this store has no such thing
  std::vector<double> alone{};          // one thread, nobody else
  std::vector<double> threads{};        // kBenchThreads threads, one lock
  std::vector<double> rivalled{};       // the same, while another process asks for it
  std::vector<Duration> rival_waits{};  // sorted
};

double median(std::vector<double>);
// Of the ratios within each round: what disturbs a round disturbs both.
double median_ratio(const std::vector<double>&, const std::vector<double>& to);

struct RoundsPlan {
  std::string store_url;
  std::string raw_path;  // the store's file; empty: no raw loop
  Duration time{};       // for everything together
  int rounds = 5;
};

// Short slices of everything in turn, so that noise hits all alike. Throws Refusal.
Rates run_rounds(const Client&, const RoundsPlan&);

}  // namespace holdfast::cli
