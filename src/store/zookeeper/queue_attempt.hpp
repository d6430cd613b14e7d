#pragma once

#include "store/zookeeper/attempt.hpp"
#include "store/zookeeper/line.hpp"

namespace holdfast::store::zookeeper {

// A mutex or a shared mutex: the place of one's node in the line says whether it is granted.
//
//   nothing there     create and list, in one go; without parents these first, and once more. Where nobody else comes,
//                     create alone (QuietLines)
//   may be there      sync and list; is it among them, and of this session? else create
//   known             sync, list, and see whether it was revoked. In a long line, not list: see whether the one
//                     before is still there
//   a writer's place  create the reader's node and delete the writer's, as one
class QueueAttempt final : public Attempt {
 public:
  QueueAttempt(Ground&, Places::Turn);
  ~QueueAttempt() override;

 private:
  void start(Stage) override;
  void give_up() override;

  void create();
  void created(const Answers&);
  void list_behind();
  void listed_behind(const Answers&);
  void read_behind(const QuietLines::Made&, const Reply& line, const QuietLines::Look&,
                   bool watch_set);
  void search();
  void searched(const Answers&);
  void identified(const Answers&);
  void visit();
  void visited(const Answers&);
  void read_own(const Answers&);
  void stand_anew();
  void glance(const std::string& own, const std::string& before);
  void glanced(const Answers&);
  void list();
  void listed(const Answers&);
  void listed(const Reply&);
  void folders_seen(const Answers&);

  void exchange();
  void exchanged(const Answers&);
  void writer_read(const Answers&);
  void writer_is_gone();

  void judge(Line);
  void judge_place(std::size_t own);
  void wait(std::size_t own);
  void waits(const Answers&);
  void refuse_waiting();

  bool is_exchange() const { return terms().instead_of.has_value(); }
  std::string path(std::string_view node) const { return parent_ + '/' + std::string(node); }
  std::optional<Rejected> adopt(const std::string& path, std::int64_t czxid);

  const std::string parent_;
  bool needs_parents_ = false;
  QuietLines::Look look_{};  // of a create that was not answered
  std::vector<std::string> found_{};
  std::optional<Line> line_{};
  bool had_a_glance_ = false;
  std::uint32_t ahead_ = 0;
  std::uint32_t waiting_ = 0;
  std::string writer_{};  // path of the node whose place it takes
};

}  // namespace holdfast::store::zookeeper
