#pragma once

#include <memory>

#include "holdfast/store/clock.hpp"
#include "store/sqlite/database.hpp"
#include "store/sqlite/machine.hpp"
#include "store/sqlite/place.hpp"
#include "store/sqlite/session_folder.hpp"

namespace holdfast::store::sqlite {

// Opens the database, makes it if there is none, and finds out what a new boot means for it.
//
// On error     Throws Failure: another machine's file, a newer schema, damage, rights, no space.
std::unique_ptr<Database> set_up(const Place&, const SessionFolder&, const Machine&, const Clock&);

// The folder of the sessions, made if there is none; its files get the database's mode.
SessionFolder set_up_sessions(Place&);

}  // namespace holdfast::store::sqlite
