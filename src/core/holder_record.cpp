#include "holdfast/holder_record.hpp"

#include "holdfast/store/lock_name.hpp"

namespace holdfast {

// A record is somebody else's words: nothing of it reaches a terminal or a log unescaped.
std::string describe(const HolderRecord& record) {
  std::string who = store::printable(record.program.empty() ? record.owner : record.program);
  if (who.empty()) who = "somebody";

  std::string where = store::printable(record.host);
  if (record.pid > 0) {
    if (!where.empty()) where += ' ';
    where += "pid " + std::to_string(record.pid);
  }
  return where.empty() ? who : who + " (" + where + ")";
}

}  // namespace holdfast
