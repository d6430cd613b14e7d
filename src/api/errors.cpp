#include "api/errors.hpp"

#include <utility>

namespace holdfast::detail {

Error error_about(Errc code, const store::LockName& name, const std::string& text) {
  Error::Detail detail;
  detail.code = code;
  detail.lock = name.bytes();
  detail.text = std::string(name_of(code)) + ": \"" + store::printable(detail.lock) + "\": " + text;
  return Error(std::move(detail));
}

Error forked_error() {
  return Error(Errc::forked, "forked: this client belongs to the parent process; connect anew");
}

}  // namespace holdfast::detail
