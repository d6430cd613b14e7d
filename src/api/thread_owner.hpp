#pragma once

#include "holdfast/owner.hpp"

namespace holdfast::detail {

// The calling thread as an owner. Thread ids are reused, an Owner's is not.
inline Owner& this_thread() {
  thread_local Owner owner;
  return owner;
}

}  // namespace holdfast::detail
