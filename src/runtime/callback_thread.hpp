#pragma once

#include <cstdint>
#include <memory>

#include "runtime/callbacks.hpp"

namespace holdfast::runtime {

// The callbacks thread of a client. It is started by the first task.
//
// Guarantees   Tasks run in order. Whatever was posted before stop() runs, and so does what those
//              tasks post themselves, since somebody may be promised a result. After stop() a task
//              from another thread is destroyed unrun.
// On error     A task that throws is counted and the next one runs. If no thread can be started the
//              tasks wait, and the next post tries again.
// Blocking     Only stop(), until the last task has run. On the thread itself it does not wait: the
//              thread finishes its work alone, also after this object is gone.
// After fork   In a child stop() and the destructor do nothing; the thread exists in the parent
//              only.
// Threads      All members from any thread.
class CallbackThread final : public Callbacks {
 public:
  CallbackThread();
  CallbackThread(const CallbackThread&) = delete;
  CallbackThread& operator=(const CallbackThread&) = delete;
  ~CallbackThread() override;  // stop()

  void post(Task) override;
  bool on_this_thread() const override;
  const void* id() const override { return state_.get(); }
  static const void* here();  // the id of the one on whose thread this is called, or null

  void stop();
  // Tasks that it was given, and those of them that have run and own nothing any more. They go in that order.
  std::uint64_t posted() const;
  std::uint64_t gone() const;
  std::uint64_t failures() const;  // tasks that threw

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace holdfast::runtime
