// The verbs on cells as questions to the server, and what it replies. As lock_questions.hpp and lock_answers.hpp.
#pragma once

#include "holdfast/store/cells.hpp"
#include "store/redis/question.hpp"

namespace holdfast::store::redis {

Words ask_cell(const CellKey&);  // a plain command
Question ask_write(const CellWrite&, const Settings&);
Question ask_add(const CellAdd&, const Settings&);

CellReply cell_in(const Reply&);
CellReply change_in(const Reply&);

}  // namespace holdfast::store::redis
