// F030: a process that ends at its n-th question to the store, for every n.
#pragma once

#include <chrono>
#include <string>

namespace holdfast::test {

// One client acquires, renews and releases; waits and gives up; is served after waiting and releases.
// It is killed before a question is asked, or when it is answered and nobody has heard it; whichever
// question it was, the next one is served, with a greater fence, and nothing comes after.
void expect_served_whichever_call_was_the_last(const std::string& url,
                                               std::chrono::milliseconds lease);

}  // namespace holdfast::test
