#pragma once

#include <exception>
#include <string>
#include <utility>

#include "holdfast/store/replies.hpp"

namespace holdfast::store::directory {

// What went wrong, thrown inside this folder and caught where a verb is answered.
class Failure : public std::exception {
 public:
  explicit Failure(NoAnswer what) : what_(std::move(what)) {}
  Failure(Errc why, std::string text) : what_{why, false, std::move(text)} {}
  const char* what() const noexcept override { return what_.text.c_str(); }
  const NoAnswer& no_answer() const { return what_; }

 private:
  NoAnswer what_;
};

// Somebody removed a lock while it was held.
class Removed : public Failure {
  using Failure::Failure;
};

// From here on nobody knows whether it happened.
template <class Verb>
auto perhaps_done(Verb verb) {
  try {
    return verb();
  } catch (const Failure& failure) {
    NoAnswer none = failure.no_answer();
    none.executed = true;
    throw Failure(std::move(none));
  }
}

// Throws what this error number (of errno) means for a store; `what` says what could not be done.
[[noreturn]] void fail(int error, const std::string& what);

// A path or a file's name as it may be shown: quoted, and printable.
std::string shown(const std::string& path);

}  // namespace holdfast::store::directory
