#include "support/net/rules.hpp"

#include <memory>
#include <utility>

namespace holdfast::test {

std::function<void(std::string&)> replace_occurrence(int n, std::string from, std::string to) {
  // Shared, because every connection has a copy of the rule.
  return [seen = std::make_shared<int>(0), n, from = std::move(from),
          to = std::move(to)](std::string& bytes) {
    for (auto at = bytes.find(from); at != std::string::npos;
         at = bytes.find(from, at + from.size())) {
      if (++*seen != n) continue;
      bytes.replace(at, from.size(), to);
      return;
    }
  };
}

}  // namespace holdfast::test
