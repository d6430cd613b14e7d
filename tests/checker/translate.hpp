// How the library's own words are called in a history.
#pragma once

#include "checker/history.hpp"
#include "holdfast/error.hpp"
#include "holdfast/store/keys.hpp"

namespace holdfast::check {

inline Mode mode_of(const store::Shape& shape) {
  switch (shape.form) {
    case store::Shape::Form::exclusive:
      return Mode::exclusive;
    case store::Shape::Form::shared:
      return Mode::shared;
    case store::Shape::Form::upgradeable:
      return Mode::upgradeable;
    case store::Shape::Form::permits:
      return Mode::permits;
  }
  return Mode::exclusive;
}

inline Outcome outcome_of(Errc code) {
  switch (code) {
    case Errc::busy:
      return Outcome::busy;
    case Errc::timed_out:
      return Outcome::timed_out;
    case Errc::cancelled:
      return Outcome::cancelled;
    case Errc::unknown:
      return Outcome::unknown;
    case Errc::unavailable:
      return Outcome::unavailable;
    default:
      return Outcome::other;
  }
}

}  // namespace holdfast::check
