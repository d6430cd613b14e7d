#include "conformance/broken/broken_store.hpp"
#include "holdfast/store/cells.hpp"

namespace holdfast::conformance {

using namespace store;

namespace {

// A store whose cells stand in front of right ones. Derive from it to spoil a verb.
class BrokenCells : public BrokenStore, public Cells {
 public:
  using BrokenStore::BrokenStore;
  using BrokenStore::watch;
  Cells* cells() final { return this; }

  void read(const CellKey& key, Call<CellReply> call) final { call.answer(read_of(key)); }
  void write(const CellWrite& ask, Call<CellReply> call) final { call.answer(write_of(ask)); }
  void add(const CellAdd& ask, Call<CellReply> call) final { call.answer(add_of(ask)); }
  WatchPtr watch(const CellKey& key, CellChangedFn changed) override {
    return right().watch(key, std::move(changed));
  }

  virtual CellReply read_of(const CellKey& key) { return right_read(key); }
  virtual CellReply write_of(CellWrite ask) { return right_write(ask); }
  virtual CellReply add_of(CellAdd ask) { return right_add(ask); }

 protected:
  Cells& right() { return *inner().cells(); }
  CellReply right_read(const CellKey& key) {
    return answer_to<CellReply>([&](Call<CellReply> call) { right().read(key, std::move(call)); });
  }
  CellReply right_write(const CellWrite& ask) {
    return answer_to<CellReply>([&](Call<CellReply> call) { right().write(ask, std::move(call)); });
  }
  CellReply right_add(const CellAdd& ask) {
    return answer_to<CellReply>([&](Call<CellReply> call) { right().add(ask, std::move(call)); });
  }
  CellState right_state(const CellKey& key) { return std::get<CellState>(right_read(key)); }
};

// Every question is a new operation to them.
struct AddsAreDoneTwice final : BrokenCells {
  using BrokenCells::BrokenCells;
  CellReply add_of(CellAdd ask) override {
    ask.op.number = ++numbers_;
    return right_add(ask);
  }
  std::uint64_t numbers_ = 1000;
};

struct WritesAreForgotten final : BrokenCells {
  using BrokenCells::BrokenCells;
  CellReply write_of(CellWrite ask) override {
    ask.op.number = ++numbers_;
    return right_write(ask);
  }
  std::uint64_t numbers_ = 1000;
};

struct ClientsShareTheirNumbers final : BrokenCells {
  using BrokenCells::BrokenCells;
  CellReply add_of(CellAdd ask) override {
    ask.op.client = {};
    return right_add(ask);
  }
};

struct OlderOperationsAreDone final : BrokenCells {
  using BrokenCells::BrokenCells;
  CellReply add_of(CellAdd ask) override {
    CellReply reply = right_add(ask);
    if (!std::holds_alternative<Rejected>(reply)) return reply;
    ask.op.client.low += 1 << 20;
    return right_add(ask);
  }
};

struct TheExpectedVersionIsIgnored final : BrokenCells {
  using BrokenCells::BrokenCells;
  CellReply write_of(CellWrite ask) override {
    ask.expected = right_state(ask.key).version;
    return right_write(ask);
  }
};

struct ConflictsShowNothing final : BrokenCells {
  using BrokenCells::BrokenCells;
  CellReply write_of(CellWrite ask) override {
    CellReply reply = right_write(ask);
    if (std::holds_alternative<Conflict>(reply)) return Conflict{};
    return reply;
  }
};

// An empty value counts as none, and the next one begins anew.
struct VersionsRestart final : BrokenCells {
  using BrokenCells::BrokenCells;
  CellReply read_of(const CellKey& key) override { return shown(key, right_read(key)); }
  CellReply write_of(CellWrite ask) override {
    ask.expected += state().fence_of_name[ask.key.name];
    CellReply reply = right_write(ask);
    if (const auto* done = std::get_if<CellState>(&reply); done != nullptr && done->value.empty()) {
      state().fence_of_name[ask.key.name] = done->version;
    }
    return shown(ask.key, std::move(reply));
  }

 private:
  CellReply shown(const CellKey& key, CellReply reply) {
    if (auto* now = std::get_if<CellState>(&reply)) {
      now->version -= state().fence_of_name[key.name];
    }
    return reply;
  }
};

struct TheFloorIsIgnored final : BrokenCells {
  using BrokenCells::BrokenCells;
  CellReply add_of(CellAdd ask) override {
    ask.floor = -1'000'000;
    return right_add(ask);
  }
};

struct KindsAreOneCell final : BrokenCells {
  using BrokenCells::BrokenCells;
  CellReply read_of(const CellKey& key) override { return right_read({CellKind::value, key.name}); }
  CellReply write_of(CellWrite ask) override {
    ask.key.kind = CellKind::value;
    return right_write(ask);
  }
};

struct LongValuesAreCut final : BrokenCells {
  using BrokenCells::BrokenCells;
  CellReply write_of(CellWrite ask) override {
    if (ask.value.size() > 1024) ask.value.resize(1024);
    return right_write(ask);
  }
};

struct NobodyIsToldOfChanges final : BrokenCells {
  using BrokenCells::BrokenCells;
  using BrokenCells::watch;
  WatchPtr watch(const CellKey& key, CellChangedFn) override {
    return right().watch(key, [] {});
  }
};

// It is written down, and the locks do not know.
struct SizesAreOnlyNoted final : BrokenCells {
  using BrokenCells::BrokenCells;
  CellReply write_of(CellWrite ask) override {
    if (ask.key.kind == CellKind::size) ask.key.kind = CellKind::value;
    return right_write(ask);
  }
};

// Those who were there before are forgotten.
struct ASmallerSizeSweepsTheLock final : BrokenCells {
  using BrokenCells::BrokenCells;
  CellReply write_of(CellWrite ask) override {
    CellReply reply = right_write(ask);
    for (auto holder = right_holder(ask.key.name); holder; holder = right_holder(ask.key.name)) {
      right_release(*holder);
    }
    return reply;
  }
};

template <class Broken>
std::unique_ptr<Store> wrap(std::unique_ptr<Store> right, BrokenState& state) {
  return std::make_unique<Broken>(std::move(right), state);
}

}  // namespace

#define BROKEN(Store, Rule) \
  { #Store, #Rule, &wrap < Store> }

std::vector<Breakage> cell_breakages() {
  return {
      BROKEN(AddsAreDoneTwice, AnAddThatIsRepeatedIsDoneOnce),
      BROKEN(AddsAreDoneTwice, AnAddWhoseReplyWasLostIsDoneOnce),
      BROKEN(WritesAreForgotten, AWriteThatIsRepeatedIsDoneOnce),
      BROKEN(WritesAreForgotten, AConflictThatIsRepeatedStaysOne),
      BROKEN(ClientsShareTheirNumbers, OperationsAreCountedByClientAndCell),
      BROKEN(OlderOperationsAreDone, AnOlderOperationIsRejected),
      BROKEN(TheExpectedVersionIsIgnored, AWriteAtAnotherVersionIsAConflict),
      BROKEN(ConflictsShowNothing, AWriteAtAnotherVersionIsAConflict),
      BROKEN(VersionsRestart, VersionsGrowAndNeverRestart),
      BROKEN(TheFloorIsIgnored, AnAddStopsAtTheFloor),
      BROKEN(KindsAreOneCell, KindsOfOneNameAreDifferentCells),
      BROKEN(LongValuesAreCut, ValuesAreAnyBytesUpToTheLimit),
      BROKEN(SizesAreOnlyNoted, ASetSizeCountsWhateverTheClaimsSay_S27),
      BROKEN(SizesAreOnlyNoted, ABiggerSizeServesTheLine_S27),
      BROKEN(SizesAreOnlyNoted, WhoWaitsForMoreThanTheNewSizeIsToldAndStopsNobody_S27),
      BROKEN(ASmallerSizeSweepsTheLock, ASmallerSizeTakesNothingAwayAndLetsNobodyIn_S27),
      BROKEN(NobodyIsToldOfChanges, AChangeIsToldToThoseWhoWatch),
  };
}

}  // namespace holdfast::conformance
