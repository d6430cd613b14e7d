#pragma once

#include <string>

#include "holdfast/store/replies.hpp"

namespace holdfast::conformance {

// Answers in words, for the texts of failing tests.
std::string show(const store::ClaimKey&);
std::string show(const store::GrantReply&);
std::string show(const store::RenewalReply&);
std::string show(const store::ReleaseReply&);
std::string show(const store::ForceReply&);

}  // namespace holdfast::conformance
