#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace holdfast::cli_tests {

using namespace std::chrono_literals;

// Far more than anything here takes: a test that reaches it has failed.
inline constexpr std::chrono::seconds kLongEnough = 30s;

// Looks again and again until it holds.
bool eventually(const std::function<bool()>&, std::chrono::milliseconds limit = kLongEnough);

std::string content_of(const std::filesystem::path&);

// A process that is there and not a zombie.
bool is_alive(pid_t);

// A program that was started, with its output in files. What is still running is killed at the end,
// with its process group.
class Spawned {
 public:
  struct Setup {
    std::vector<std::string> environment;  // added to ours
    std::filesystem::path folder;          // for its output
    int inherited = -1;                    // a descriptor that it gets as number 3
    bool ignore_hup = false;
  };

  Spawned(const std::vector<std::string>& words, const Setup&);
  Spawned(Spawned&&) noexcept;
  ~Spawned();

  pid_t pid() const { return pid_; }
  bool running();
  void signal(int) const;
  // 128 and the signal if one killed it. Fails the test if it does not end.
  int exit_code(std::chrono::milliseconds limit = kLongEnough);

  std::string out() const { return content_of(out_); }
  std::string err() const { return content_of(err_); }

 private:
  pid_t pid_ = 0;
  std::optional<int> status_;
  std::filesystem::path out_;
  std::filesystem::path err_;
};

}  // namespace holdfast::cli_tests
