// Descriptors: those that other programs must not get, and what happens when there are no more.
#pragma once

#include <string>

namespace holdfast::test {

// F024: a program that is started while clients hold, wait, come and go has no descriptor of theirs.
void expect_no_descriptor_handed_on(const std::string& url);

// F045: a process that has no descriptors left. Its clients go on renewing and releasing, and acquire
// what they like; one that begins is told `unavailable`, whichever descriptor it is that it cannot get.
void expect_to_go_on_without_descriptors(const std::string& url);

}  // namespace holdfast::test
