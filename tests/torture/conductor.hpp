// Starts the workers, lets the planned faults befall them and gathers what they saw.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checker/history.hpp"
#include "support/child_process.hpp"
#include "support/shared_page.hpp"
#include "support/temp_folder.hpp"
#include "torture/board.hpp"
#include "torture/lock_list.hpp"
#include "torture/merge.hpp"
#include "torture/options.hpp"
#include "torture/plan.hpp"
#include "torture/progress.hpp"
#include "torture/resource.hpp"
#include "torture/scene.hpp"
#include "torture/worker.hpp"

namespace holdfast::torture {

// A fault that struck.
struct Struck {
  Fault fault = Fault::cancel;
  std::uint32_t process = 0;  // 0: none in particular
  Time from = 0;
  Time to = 0;
  std::uint32_t which = 0;  // store: which of its disturbances
};

struct Named {
  std::string name;
  std::string text;
};

struct Gathered {
  check::History history;
  std::vector<Struck> struck;
  std::vector<std::string> troubles;  // what else went wrong: a worker that crashed or hung
  std::vector<Named> disturbances;    // that this store can have
  std::uint64_t ops = 0;              // that have begun
  std::chrono::milliseconds took{};
};

// Throws std::runtime_error if it cannot be run at all.
class Conductor {
 public:
  Conductor(const Options&, Scene&);
  Conductor(const Conductor&) = delete;
  Conductor& operator=(const Conductor&) = delete;

  Gathered run();

 private:
  // One place among the workers, and the process that has it now.
  struct Post {
    std::uint32_t worker = 0;
    std::uint32_t generation = 0;
    std::uint32_t process = 0;
    std::optional<test::ChildProcess> child{};
    bool ready = false;
    bool stopped = false;
    std::vector<Struck> asked{};  // faults that it was told to bring about, and has not answered
  };
  // What each process that ever was left behind, by its number.
  struct Trace {
    Time killed = kNever;
    std::vector<Pause> pauses{};
  };
  // Something that ends at its time.
  struct Lasting {
    Struck struck;
    Post* post = nullptr;
    std::optional<test::ChildProcess> hog{};
  };

  void start(Post&);
  void loop();
  void allow();
  bool strike(const PlannedFault&);
  Post* victim(const PlannedFault&);
  void tell(Post&, const PlannedFault&, const char* order);
  void stop(Post&, const PlannedFault&);
  void kill(Post&);
  void heal(Time now);
  void end(Lasting&);
  void listen(Post&);
  void look_after(Post&);
  void finish();
  bool hear(Post&, const std::string& expected, std::chrono::milliseconds patience);
  void last_look();
  void dismiss();
  check::Terms terms() const;
  void gather();

  const Options options_;
  const std::string url_;
  const bool one_process_;
  test::TempFolder folder_;
  test::SharedPage<Board> board_;
  ResourceServer resource_;
  Disturbances disturbances_;
  std::vector<LockPlan> locks_;
  std::vector<PlannedFault> plan_;
  std::size_t next_ = 0;  // in the plan
  std::vector<std::unique_ptr<Post>> posts_;
  std::vector<Trace> traces_{1};  // processes are numbered from 1
  std::vector<Lasting> lasting_;
  Time last_fault_ = 0;
  Progress progress_;
  Gathered gathered_;
};

}  // namespace holdfast::torture
