// What became of a request.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "holdfast/client.hpp"

namespace holdfast::test {

// An error of one kind, else what it is instead.
template <class T>
testing::AssertionResult fails_with(Errc code, const Result<T>& result) {
  if (result) return testing::AssertionFailure() << "it succeeded";
  if (result.error() == code) return testing::AssertionSuccess() << result.error().text();
  return testing::AssertionFailure() << result.error().text();
}

// No answer, which is not a no. Which of the two it is depends on who gives up first: the store tells
// that nothing was done, the engine's own deadline cannot.
template <class T>
testing::AssertionResult is_no_answer(const Result<T>& result) {
  if (!result && result.error() == Errc::unknown) return testing::AssertionSuccess();
  return fails_with(Errc::unavailable, result);
}

// Nobody can connect to this URL.
inline void expect_refused(Errc code, const std::string& url, const std::string& because) {
  const auto client = connect(url);
  EXPECT_TRUE(fails_with(code, client)) << url;
  EXPECT_THAT(client ? "" : client.error().text(), testing::HasSubstr(because)) << url;
}

// Whether examine() warns of this.
inline bool warned_of(std::string_view subject, const Client& client) {
  const auto findings = client.examine().value();
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& each) {
    return each.level == Finding::Level::warning && each.subject == subject;
  });
}

}  // namespace holdfast::test
