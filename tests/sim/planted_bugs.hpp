// Shows that the checker bites: every bug planted in the engine, or in the model of a session store, has to
// be caught.
#pragma once

#include <cstdint>
#include <string_view>

namespace holdfast::sim {

// Chooses the bug that this program has from now on; false if there is none so named,
// or if this program has none at all.
bool plant(std::string_view name);

// Runs each bug until it is caught; prints a table. 0 if all were.
int catch_all(std::uint64_t first_seed, std::uint64_t at_most);

}  // namespace holdfast::sim
