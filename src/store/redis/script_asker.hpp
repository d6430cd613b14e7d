// Questions with their answers' way back. A Handler has answered(const Reply&) and failed(NoAnswer); one of
// them is called, once.
#pragma once

#include <memory>
#include <utility>

#include "holdfast/store/call.hpp"
#include "store/redis/connection.hpp"
#include "store/redis/question.hpp"

namespace holdfast::store::redis {

// Answers a call with what read(reply) makes of the reply.
template <class Answer, class Read>
struct CallHandler {
  Call<Answer> call;
  Read read;
  void answered(const Reply& reply) { call.answer(read(reply)); }
  void failed(NoAnswer no) { call.answer(std::move(no)); }
};

template <class Then, class Else>
struct FunctionHandler {
  Then then;
  Else otherwise;
  void answered(const Reply& reply) { then(reply); }
  void failed(NoAnswer no) { otherwise(std::move(no)); }
};

// Any command.
template <class Handler>
class WordsAsker final : public Asker {
 public:
  WordsAsker(TimePoint deadline, bool waits, Handler handler)
      : Asker(deadline, waits), handler_(std::move(handler)) {}
  void answered(Reply reply) override { handler_.answered(reply); }
  void failed(NoAnswer no) override { handler_.failed(std::move(no)); }

 private:
  Handler handler_;
};

// Runs a script. A server that does not know it yet (it was restarted, somebody flushed it) says so before
// doing anything, and gets its text.
template <class Handler>
class ScriptAsker final : public Asker {
 public:
  ScriptAsker(Connection& connection, Question question, TimePoint deadline, bool waits,
              Handler handler)
      : Asker(deadline, waits),
        connection_(connection),
        question_(std::move(question)),
        handler_(std::move(handler)) {}

  void answered(Reply reply) override {
    if (!reply.is(Reply::Type::error) || !reply.text.starts_with("NOSCRIPT")) {
      return handler_.answered(reply);
    }
    connection_.ask(
        words_of(question_, ScriptAs::text),
        std::make_unique<WordsAsker<Handler>>(deadline(), waits(), std::move(handler_)));
  }
  void failed(NoAnswer no) override { handler_.failed(std::move(no)); }

 private:
  Connection& connection_;
  const Question question_;
  Handler handler_;
};

template <class Handler>
void ask_script_as(Connection& connection, Question question, TimePoint deadline, bool waits,
                   Handler handler) {
  const Words words = words_of(question, ScriptAs::sha1);
  connection.ask(words, std::make_unique<ScriptAsker<Handler>>(
                            connection, std::move(question), deadline, waits, std::move(handler)));
}

// A script whose reply answers a call.
template <class Answer, class Read>
void ask_script(Connection& connection, Question question, Call<Answer> call, Read read) {
  const TimePoint deadline = call.deadline();
  const bool waits = call.may_block();
  ask_script_as(connection, std::move(question), deadline, waits,
                CallHandler<Answer, Read>{std::move(call), std::move(read)});
}

// A script, and functions for its reply and for there being none.
template <class Then, class Else>
void ask_script(Connection& connection, Question question, TimePoint deadline, Then then,
                Else otherwise) {
  ask_script_as(connection, std::move(question), deadline, false,
                FunctionHandler<Then, Else>{std::move(then), std::move(otherwise)});
}

// The same for any command.
template <class Then, class Else>
void ask_words(Connection& connection, const Words& words, TimePoint deadline, Then then,
               Else otherwise) {
  using Handler = FunctionHandler<Then, Else>;
  connection.ask(words, std::make_unique<WordsAsker<Handler>>(
                            deadline, false, Handler{std::move(then), std::move(otherwise)}));
}

// Any command whose reply answers a call.
template <class Answer, class Read>
void ask_command(Connection& connection, const Words& words, Call<Answer> call, Read read) {
  using Handler = CallHandler<Answer, Read>;
  const TimePoint deadline = call.deadline();
  const bool waits = call.may_block();
  connection.ask(words, std::make_unique<WordsAsker<Handler>>(
                            deadline, waits, Handler{std::move(call), std::move(read)}));
}

}  // namespace holdfast::store::redis
