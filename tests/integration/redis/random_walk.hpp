#pragma once

#include "integration/redis/twins.hpp"

namespace holdfast::test {

enum class Walk : std::uint8_t { mutex, shared_mutex, semaphore, mixed };

// Random questions of several owners of several clients, with time passing, until something differs or so many
// were asked. The same seed asks the same.
void walk(Twins&, Walk, unsigned seed, int steps);
// The same for cells.
void walk_cells(Twins&, unsigned seed, int steps);

}  // namespace holdfast::test
