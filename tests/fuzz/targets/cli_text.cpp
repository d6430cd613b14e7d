// What the program tells of locks, to people and as JSON. All of it comes from a store.
#include <chrono>
#include <string>

#include "cli/inspect/lock_state.hpp"
#include "cli/json.hpp"
#include "cli/run/busy_text.hpp"
#include "cli/run/waiting_line.hpp"
#include "cli/text/table.hpp"
#include "cli/text/utf8.hpp"
#include "fuzz/properties.hpp"
#include "fuzz/target.hpp"

namespace holdfast::fuzz {
namespace {

using namespace std::chrono_literals;

const TimePoint kNow(2h);
const WallTime kWall(std::chrono::seconds(1'700'000'000));

void require_plain(const std::string& text) {
  for (const char c : text) require(c >= ' ' && c <= '~', "JSON is plain ASCII");
}

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

const Target kJson("json", [](std::string_view bytes) {
  Input input(bytes);
  const LockInfo lock = lock_from(input);
  const std::string text = cli::json_text(cli::to_json(lock, input.text(), kWall));
  require_plain(text);
  const auto json = cli::Json::parse(text);
  require(json.at("holders").size() == lock.holders.size(), "all holders are there");
  if (cli::is_utf8(lock.name)) {
    require(json.at("name") == lock.name && !json.contains("name_hex"), "a name is there");
  } else {
    require(from_hex(json.at("name_hex")) == lock.name, "the bytes of a name are there");
  }
  cli::Json error;
  cli::add_error(error, Error(Errc::unavailable, std::string(bytes)));
  require_plain(cli::json_text(error));
});

const Target kCliText("cli_text", [](std::string_view bytes) {
  Input input(bytes);
  cli::Sight sight("web1", 7);
  while (!input.done()) {
    const LockInfo lock = lock_from(input);
    sight.saw(lock, kNow);
    const Duration wait(input.number());
    const Error error(Errc::busy);
    for (const cli::Sight* seen :
         {static_cast<const cli::Sight*>(nullptr), &std::as_const(sight)}) {
      const cli::BusyCase busy{
          .name = lock.name, .wait = wait, .exit_code = 75, .sight = seen, .last_place = {}};
      require_safe_lines(cli::busy_text(busy, error, kNow, kWall));
    }
    const cli::Wait waiting{.name = lock.name, .waited = wait, .limit = kForever};
    for (const bool unicode : {false, true}) {
      const std::string line = cli::waiting_line(waiting, sight, kNow + 1h, kWall, unicode);
      require_safe(line);
      const std::size_t columns = input.byte();
      const std::string cut = cli::cut_to(line, columns, unicode);
      require_safe(cut);
      require(columns == 0 || cli::width_of(cut) <= columns, "a cut line fits");
    }
    for (const ClaimInfo& holder : lock.holders) {
      require_safe_lines(cli::table_text(
          {{cli::shown_program(holder.record), "x"}, {cli::shown_place(holder.record)}}));
      require_safe(cli::iso_text(holder.record.since));
      require_safe(cli::local_text(holder.record.since, kWall));
    }
  }
});

}  // namespace
}  // namespace holdfast::fuzz
