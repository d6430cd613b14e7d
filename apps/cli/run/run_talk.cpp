#include "cli/run/run_talk.hpp"

#include "cli/say.hpp"
#include "cli/text/duration_text.hpp"
#include "cli/text/shown.hpp"

namespace holdfast::cli {

using namespace std::chrono_literals;

Duration RunTalk::next_line(Duration waited) const {
  if (options_.quiet) return kForever;
  if (!options_.json && terminal_.can_redraw()) return waited < 500ms ? 500ms : waited + 250ms;
  return next_line_after(last_line_);
}

void RunTalk::waiting(const Wait& wait, const Sight& sight, TimePoint now) {
  // Nobody must wait for a reader while the lock may be granted at any moment.
  if (options_.quiet || !can_say_now()) return;
  last_line_ = wait.waited;
  if (options_.json) {
    Json json = event("waiting");
    if (options_.names.size() > 1) add_name(json, wait.name);
    json["waited"] = seconds_of(wait.waited);
    if (const auto place = sight.place()) {
      json["place"] = place->number;
      json["of"] = place->of;
    }
    if (sight.holder()) json["holder"] = to_json(*sight.holder(), wall_now());
    return tell(json);
  }
  const bool unicode = terminal_.unicode();
  const std::string line = waiting_line(wait, sight, now, wall_now(), unicode);
  if (terminal_.can_redraw()) {
    say("\r\x1b[K" + cut_to(line, terminal_.columns() - 1, unicode));
    line_is_drawn_ = true;
  } else {
    say("holdfast: " + line + "\n");
  }
}

void RunTalk::clear_line() {
  if (line_is_drawn_) say("\r\x1b[K");
  line_is_drawn_ = false;
}

void RunTalk::acquired(const RunHolds& holds, Duration waited) {
  if (!options_.verbose) return;
  if (options_.json) {
    Json json = event("acquired");
    json["fence"] = holds.first_fence().value();
    if (holds.count() > 1) json["fences"] = holds.fences();
    json["waited"] = seconds_of(waited);
    return tell(json);
  }
  tell("acquired " + shown(options_.name) + ", fence " + holds.fences_text() + ", after " +
       duration_text(waited));
}

void RunTalk::lost(const std::string& why) {
  if (options_.json) {
    Json json = event("lost");
    json["text"] = why;
    return tell(json);
  }
  tell(terminal_.paint(Color::red, "lost") + ": " + why);
}

void RunTalk::left_behind(std::int64_t processes) {
  if (options_.quiet) return;
  if (options_.json) {
    Json json = event("left_behind");
    json["processes"] = processes;
    return tell(json);
  }
  tell("still holding " + shown(options_.name) + ": waiting for " + std::to_string(processes) +
       (processes == 1 ? " process that " : " processes that ") + shown(options_.command[0]) +
       " left behind");
}

void RunTalk::released() {
  if (!options_.verbose) return;
  if (options_.json) return tell(event("released"));
  tell("released " + shown(options_.name));
}

void RunTalk::end(const RunReport& report) {
  clear_line();
  const bool is_error = report.outcome != RunReport::Outcome::busy &&
                        report.outcome != RunReport::Outcome::interrupted;
  if (options_.json) {
    if (says(is_error)) tell(to_json(report, options_.name, options_.store.shown_url()));
  } else if (!report.text.empty() && says(is_error)) {
    say(report.text.ends_with("\n") ? report.text : "holdfast: " + report.text + "\n");
  }
}

void RunTalk::tell(const std::string& text) {
  clear_line();
  say("holdfast: " + text + "\n");
}

Json RunTalk::event(std::string_view name) const {
  Json json;
  json["schema"] = kJsonSchema;
  json["event"] = name;
  add_name(json, options_.name);
  return json;
}

void RunTalk::tell(const Json& json) { say(json_text(json) + "\n"); }

}  // namespace holdfast::cli
