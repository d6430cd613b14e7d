#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "integration/redis/script_bench.hpp"
#include "store/memory/cell_table.hpp"
#include "store/memory/lock_table.hpp"
#include "store/redis/question.hpp"

namespace holdfast::test {

// The scripts on a live server, and the model of what they should do (store::LockTable), asked the same
// questions at the same times. Fences differ; what is compared is who has which, and that they grow.
//
// On error     What differed first is kept in difference(); nothing after it means anything.
class Twins {
 public:
  Twins(RedisServer& server, store::redis::Settings settings, std::vector<Edit> edits = {});

  const std::optional<std::string>& difference() const { return difference_; }

  // Each asks both and compares. The fences in the questions are the model's.
  void try_grant(const store::GrantRequest&);
  void renew(const std::vector<store::Renewal>&);
  void release(const store::HoldKey&);
  void withdraw(const store::ClaimKey&);
  void force_release(const store::ForceRequest&);
  void write(const store::CellWrite&);
  void add(const store::CellAdd&);
  void look(const store::LockName&, const std::string& after = "");
  void pass(Duration);

  std::vector<store::LockView> views() const;  // the model's
  store::CellState cell(const store::CellKey&) const;
  ScriptBench& bench() { return bench_; }

 private:
  void differ(const std::string& verb, const std::string& model, const std::string& scripts);
  void compare(const std::string& verb, const std::string& model, const std::string& scripts) {
    if (model != scripts) differ(verb, model, scripts);
  }
  void compare_told(const std::string& verb);
  template <class Ask, class Verb>
  void change(const Ask&, const store::redis::Question&, Verb verb);

  // The number that the scripts gave for a fence of the model's.
  std::uint64_t theirs(std::uint64_t fence) const;
  // The fences of one verb's grant and offers: which stands for which, and that they grow.
  struct GivenFence {
    std::uint64_t model;
    std::uint64_t scripts;
    std::uint64_t spare;
    store::LockName name;
  };
  void note_given();
  std::string in_words(const store::GrantReply&, const store::LockName&) const;

  ScriptBench bench_;
  store::redis::Settings settings_;
  store::LockTable model_;
  store::CellTable cells_;
  std::vector<rules::Told> told_;
  std::vector<GivenFence> given_;
  std::map<std::uint64_t, std::uint64_t> fences_;           // the model's: the scripts'
  std::map<store::LockName, std::uint64_t> newest_fences_;  // the scripts', spares included
  std::map<store::OwnerId, store::LockName> locks_;         // that an owner asked for
  std::optional<std::string> difference_;
};

}  // namespace holdfast::test
