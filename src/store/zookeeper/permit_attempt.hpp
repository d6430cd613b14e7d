#pragma once

#include "store/zookeeper/attempt.hpp"
#include "store/zookeeper/line.hpp"

namespace holdfast::store::zookeeper {

// Permits of a semaphore. Only the first in its line takes any, all that it wants as one, and leaves the line in
// the same step: so nobody else can take one meanwhile, neither ours nor Curator's, and two that want several
// never wait for each other.
//
//   nothing there     create a node in the line, list the line and what is taken; first and enough: take
//   may be there      sync and list both; are they among them, and of this session? else create
//   waiting           sync, list both
//   held              sync, see whether all are there and not revoked
class PermitAttempt final : public Attempt {
 public:
  PermitAttempt(Ground&, Places::Turn);

 private:
  void start(Stage) override;

  void create();
  void created(const Answers&);
  void search();
  void searched(const Answers&);
  void identified(const Answers&);
  void stand(const std::string& node, const Answers&);
  void visit();
  void visited(const Answers&);
  void start_over();
  void read_own(const Answers&);
  void survey();
  void surveyed(const Answers&);

  void judge(const Reply& line, const Reply& leases, const Reply& lock, const Reply& size);
  void judge_room();
  void take();
  void taken(const Answers&);
  void size_seen(const Answers&);
  void folder_made(const Answers&);
  void wait_for_permits();
  void waits_for_permits(const Answers&);
  void wait_behind(std::size_t own);
  void waits_behind(const Answers&);
  void refuse_waiting() { refuse(ahead_, waiting_, fence_counter_); }

  std::vector<Request> questions() const;
  std::optional<Rejected> objection() const;
  std::optional<std::uint32_t> size_in(const Reply&) const;
  bool is_too_many(std::uint64_t taken, const Reply& size) const;
  std::string in_way() const;  // the path of a permit that is taken, or of the first in the line
  std::string in_line(std::string_view node) const { return line_path_ + '/' + std::string(node); }
  std::string in_leases(std::string_view node) const {
    return leases_path_ + '/' + std::string(node);
  }

  const std::string line_path_;
  const std::string leases_path_;
  const std::string cell_path_;
  bool needs_parents_ = false;
  std::vector<std::string> found_leases_{};
  std::vector<std::string> found_in_line_{};
  std::optional<Line> line_{};
  std::optional<Permits> permits_{};
  std::string first_lease_{};
  std::optional<std::uint32_t> size_{};         // that was set
  std::optional<std::int32_t> size_version_{};  // of the node that says so
  std::vector<std::uint32_t> slots_{};
  std::uint32_t ahead_ = 0;
  std::uint32_t waiting_ = 0;
  std::uint64_t fence_counter_ = 0;
};

}  // namespace holdfast::store::zookeeper
