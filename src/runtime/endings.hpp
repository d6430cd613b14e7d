#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "holdfast/task.hpp"
#include "holdfast/time.hpp"

namespace holdfast::runtime {

class CallbackThread;

// What a process waits for when it exits: clients that nobody has any more and that have not come to their end yet.
// Else what is on its way out of the store would stay there until its lease ends, and their threads would go on among
// static objects that are being destroyed.
//
//   exit()                 waits
//   clients                as long as each was given, if nobody has it any more but what it has under way itself
//   guests, callbacks      a second at the most for those that are there by then: they may let go of a client last
//   endings                each as long as it was given, those too that begin meanwhile
//
// Guarantees   exit(), and so the return from main(), waits that long and no longer, and for nothing that waits for the
//              thread it is called on. It does so before anything is destroyed that is older than the first client; what
//              is newer may be gone by then. Clients that are let go of later, by what is older, are waited for then.
// After fork   A child waits for nothing of its parent's, and may be forked at any moment.
// Threads      From any thread.
class Endings {
  struct State;

 public:
  // A client that ends on a thread of its own, since its last reference went where its end cannot be waited for.
  struct Ending {
    Task give_back{};                 // waits for nobody who might exit
    Task end{};                       // then; may wait for that callbacks thread
    const void* callbacks = nullptr;  // CallbackThread::id()
    Duration at_most{};
  };
  // On error   Throws std::system_error if there can be no more threads, std::bad_alloc without memory; nothing was
  //            begun then.
  // Blocking   Only on the thread that exits, as exit() would.
  static void begin(Ending);

  // Somebody who is lent a reference to a client: made before, gone after it.
  class Guest {
   public:
    Guest() noexcept;
    Guest(const Guest&) = delete;
    Guest& operator=(const Guest&) = delete;
    ~Guest();

   private:
    State* const state_;
    std::size_t turn_ = 0;
  };

  // A client. Any of its callbacks may have its last reference, and so may what it has under way.
  struct Life {
    const CallbackThread& callbacks;
    // Whether nobody can ask it for anything any more, and something is under way nevertheless. Must not come back here.
    std::function<bool()> winds_up = [] { return false; };
    Duration at_most{};
  };
  // On error     Making one throws std::bad_alloc.
  // Lifetime     Whatever begins an ending is known until that has begun.
  class Known {
   public:
    explicit Known(Life);
    Known(const Known&) = delete;
    Known& operator=(const Known&) = delete;
    ~Known();

   private:
    struct Place;
    const std::unique_ptr<Place> place_;
  };

  // Nobody can ask the client with these callbacks (CallbackThread::id()) for anything any more, if it is still there.
  //
  // Blocking   Only on the thread that exits, when exit() has waited already: then for this one.
  static void closed(const void* callbacks);

 private:
  static State* current() noexcept;
  static State& here();
  static void wait_at_exit();
};

}  // namespace holdfast::runtime
