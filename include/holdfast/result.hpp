#pragma once

#include <cassert>
#include <functional>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>

#include "holdfast/error.hpp"

namespace holdfast {

// A value or the reason there is none: the part of C++23's std::expected<T, Error> that we need, in
// a type of our own so that the library's ABI does not depend on the caller's standard.
//
// On error     value() throws std::system_error; everything else is noexcept or asserts. Test first.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  using error_type = Error;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  Result(Errc code) : state_(std::in_place_index<1>, Error(code)) {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  T& operator*() & noexcept { return get(); }
  const T& operator*() const& noexcept { return get(); }
  T&& operator*() && noexcept { return std::move(get()); }
  T* operator->() noexcept { return &get(); }
  const T* operator->() const noexcept { return &get(); }

  T& value() & { return checked(), get(); }
  const T& value() const& { return checked(), get(); }
  T&& value() && { return checked(), std::move(get()); }

  template <class U>
  T value_or(U&& other) && {
    return has_value() ? std::move(get()) : static_cast<T>(std::forward<U>(other));
  }

  const Error& error() const noexcept {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }

  // Result<U> f(T): goes on with the value, or passes the error along.
  template <class F>
  auto and_then(F&& f) && -> std::invoke_result_t<F, T&&> {
    if (!has_value()) return error();
    return std::invoke(std::forward<F>(f), std::move(get()));
  }

  // U f(T): changes the value, keeps the error.
  template <class F>
  auto transform(F&& f) && -> Result<std::invoke_result_t<F, T&&>> {
    if (!has_value()) return error();
    return std::invoke(std::forward<F>(f), std::move(get()));
  }

 private:
  T& get() noexcept {
    assert(has_value());
    return *std::get_if<0>(&state_);
  }
  const T& get() const noexcept {
    assert(has_value());
    return *std::get_if<0>(&state_);
  }
  void checked() const {
    if (!has_value()) throw std::system_error(error().code(), error().text());
  }

  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  using error_type = Error;

  Result() noexcept = default;
  Result(Error error) : error_(std::in_place_index<1>, std::move(error)) {}
  Result(Errc code) : error_(std::in_place_index<1>, Error(code)) {}

  bool has_value() const noexcept { return error_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  void value() const {
    if (!has_value()) throw std::system_error(error().code(), error().text());
  }
  const Error& error() const noexcept {
    assert(!has_value());
    return *std::get_if<1>(&error_);
  }

 private:
  std::variant<std::monostate, Error> error_;
};

}  // namespace holdfast
