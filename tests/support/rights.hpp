// Rights in a file system, and a user who has few of them.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>

namespace holdfast::test {

unsigned mode_of(const std::string& path);  // 0: there is nothing

// As long as it lives.
class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;
  ~Umask() { ::umask(before_); }

 private:
  mode_t before_;
};

inline constexpr uid_t kNobody = 65534;
bool can_become_nobody();
void give_to_nobody(const std::string& path);

// What connecting and acquiring "lock" comes to for a process of that user: "held" or an error's text.
std::string what_nobody_gets(const std::string& url);

}  // namespace holdfast::test
