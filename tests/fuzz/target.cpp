#include "fuzz/target.hpp"

#include <cstdlib>
#include <utility>

namespace holdfast::fuzz {
namespace {

std::map<std::string, Target::Run>& targets() {
  static std::map<std::string, Target::Run> all;
  return all;
}

}  // namespace

Target::Target(std::string name, Run run) {
  if (!targets().emplace(std::move(name), run).second) std::abort();  // two of one name
}

const std::map<std::string, Target::Run>& Target::all() { return targets(); }

void require(bool holds, const char* what) {
  if (!holds) throw Broken(what);
}

}  // namespace holdfast::fuzz
