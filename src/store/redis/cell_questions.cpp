#include "store/redis/cell_questions.hpp"

#include <chrono>
#include <string>
#include <utility>

#include "rules/cell_entry.hpp"
#include "rules/words.hpp"
#include "store/redis/failure.hpp"
#include "store/redis/keys.hpp"
#include "store/redis/reply_items.hpp"

namespace holdfast::store::redis {
namespace {

constexpr std::chrono::milliseconds kRemembered =
    std::chrono::duration_cast<std::chrono::milliseconds>(kCellOpsKept) + std::chrono::seconds(1);

Question about(const CellKey& key, const CellOp& op, const Script& script,
               const Settings& settings) {
  Question question{.script = &script};
  question.keys = {cell_key(key), op_key(key, op.client)};
  if (key.kind == CellKind::size) append(question.keys, {key.name.bytes(), lock_key(key.name)});
  question.arguments = first_arguments(key.name, settings);
  append(question.arguments,
         {std::to_string(op.number), std::to_string(kRemembered.count()), cell_channel(key)});
  return question;
}

}  // namespace

Words ask_cell(const CellKey& key) { return {"HMGET", cell_key(key), "value", "version"}; }

Question ask_write(const CellWrite& ask, const Settings& settings) {
  Question question = about(ask.key, ask.op, k_cell_write_script, settings);
  append(question.arguments, {std::to_string(ask.expected), ask.value});
  return question;
}

Question ask_add(const CellAdd& ask, const Settings& settings) {
  Question question = about(ask.key, ask.op, k_cell_add_script, settings);
  append(question.arguments, {std::to_string(ask.delta), std::to_string(ask.floor)});
  return question;
}

CellReply cell_in(const Reply& reply) {
  if (!reply.is(Reply::Type::array) || reply.items.size() != 2) return no_answer(reply);
  const Reply& value = reply.items[0];
  const Reply& version = reply.items[1];
  if (value.is(Reply::Type::nil) && version.is(Reply::Type::nil)) return CellState{};
  const auto number = rules::number_in<std::uint64_t>(version.text);
  if (!value.is(Reply::Type::text) || !number) return no_answer(reply);
  return CellState{value.text, *number};
}

CellReply change_in(const Reply& reply) {
  ReplyItems items(reply);
  const std::string what = items.text();
  if (what == "older" && items.ok_and_done()) return rules::older_operation();
  CellState state;
  state.value = items.text();
  state.version = items.number<std::uint64_t>();
  if (!items.ok_and_done()) return no_answer(reply);
  if (what == "done") return state;
  if (what == "conflict") return Conflict{std::move(state)};
  return no_answer(reply);
}

}  // namespace holdfast::store::redis
