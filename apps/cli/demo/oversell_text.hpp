// What `holdfast demo oversell` shows to people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/demo/late_write.hpp"
#include "cli/demo/market.hpp"
#include "cli/terminal.hpp"

namespace holdfast::cli {

class OversellText {
 public:
  OversellText(const Terminal&, std::string shown_store);

  std::string title(const std::string& options, std::uint64_t seed) const;
  std::string next_seed(std::uint64_t) const;  // before each repetition
  std::string intro() const;
  std::string table_head() const;
  std::string row(const Day&) const;
  std::string table_foot() const;  // points at the bar's end of an honest shop
  std::string lesson(const std::vector<Day>&) const;
  std::string killing(const Day&, Duration lease) const;
  std::string killed_lesson(const Day&) const;
  std::string late_write(const LateWrite&) const;
  std::string verdict(int exact, int of) const;
  std::string next(const std::string& without) const;

 private:
  std::string bar(const Day&) const;
  std::string mark(bool good) const;
  std::string moment(const std::string& time, const std::string& who,
                     const std::string& what) const;
  std::string count(const char* label, const ShelfCount&) const;

  const Terminal& terminal_;
  std::string store_;
  std::size_t columns_;
  std::size_t bar_;
};

const char* name_of(Guarding);

}  // namespace holdfast::cli
