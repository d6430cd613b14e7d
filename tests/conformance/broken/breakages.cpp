#include <algorithm>
#include <cctype>
#include <numeric>

#include "conformance/broken/broken_store.hpp"

namespace holdfast::conformance {

using namespace store;

namespace {

// --- the shapes of the breakages: one verb spoilt each ---

class BrokenGrant : public BrokenStore {
 public:
  using BrokenStore::BrokenStore;
  void try_grant(const GrantRequest& request, Call<GrantReply> call) final {
    call.answer(grant(request));
  }
  virtual GrantReply grant(GrantRequest) = 0;
};

class BrokenRenew : public BrokenStore {
 public:
  using BrokenStore::BrokenStore;
  void renew(std::span<const Renewal> renewals, Call<RenewReply> call) final {
    std::vector<RenewalReply> replies;
    for (const Renewal& each : renewals) replies.push_back(renewal(each));
    call.answer(spoil(std::move(replies)));
  }
  virtual RenewalReply renewal(const Renewal& each) { return right_renewal(each); }
  virtual std::vector<RenewalReply> spoil(std::vector<RenewalReply> replies) { return replies; }
};

class BrokenRelease : public BrokenStore {
 public:
  using BrokenStore::BrokenStore;
  void release(const HoldKey& key, Call<ReleaseReply> call) final { call.answer(release_of(key)); }
  virtual ReleaseReply release_of(const HoldKey&) = 0;
};

class BrokenWithdraw : public BrokenStore {
 public:
  using BrokenStore::BrokenStore;
  void withdraw(const ClaimKey& key, Call<WithdrawReply> call) final {
    withdraw_of(key);
    call.answer(Withdrawn{});
  }
  virtual void withdraw_of(const ClaimKey&) = 0;
};

class BrokenForce : public BrokenStore {
 public:
  using BrokenStore::BrokenStore;
  void force_release(const ForceRequest& request, Call<ForceReply> call) final {
    call.answer(force(request));
  }
  virtual ForceReply force(ForceRequest) = 0;

 protected:
  ForceReply right_force(const ForceRequest& request) {
    return answer_to<ForceReply>(
        [&](Call<ForceReply> call) { inner().force_release(request, std::move(call)); });
  }
};

class BrokenWatch : public BrokenStore {
 public:
  using BrokenStore::BrokenStore;
  WatchPtr watch(const ClaimKey& key, WakeFn wake) final {
    state().watchers.push_back(wake);
    return inner().watch(key,
                         [this, wake = std::move(wake)](const Wake& told) { tell(wake, told); });
  }
  virtual void tell(const WakeFn&, const Wake&) = 0;
};

// Every name passes through `mapped`.
class BrokenNames : public BrokenStore {
 public:
  using BrokenStore::BrokenStore;
  void try_grant(const GrantRequest& request, Call<GrantReply> call) final {
    inner().try_grant(with_mapped_name(request), std::move(call));
  }
  void renew(std::span<const Renewal> renewals, Call<RenewReply> call) final {
    std::vector<Renewal> batch;
    for (const Renewal& each : renewals) batch.push_back(with_mapped_name(each));
    inner().renew(batch, std::move(call));
  }
  void release(const HoldKey& key, Call<ReleaseReply> call) final {
    inner().release(with_mapped_name(key), std::move(call));
  }
  virtual std::string mapped(std::string name) const = 0;

 private:
  template <class Key>
  Key with_mapped_name(Key key) const {
    key.name = LockName::checked(mapped(key.name.bytes())).value();
    return key;
  }
};

// --- grants ---

struct SameOwnerGetsANewFence final : BrokenGrant {
  using BrokenGrant::BrokenGrant;
  GrantReply grant(GrantRequest request) override {
    const auto holder = right_holder(request.name);
    if (holder && holder->owner == request.owner) right_withdraw(request);
    return right_grant(request);
  }
};

struct AskingAgainLeavesTheLeaseAsItWas final : BrokenGrant {
  using BrokenGrant::BrokenGrant;
  GrantReply grant(GrantRequest request) override {
    const auto holder = right_holder(request.name);
    if (holder && holder->owner == request.owner) return Granted{holder->fence, 0, request.lease};
    return right_grant(request);
  }
};

struct LapsedOwnerKeepsItsFence final : BrokenGrant {
  using BrokenGrant::BrokenGrant;
  GrantReply grant(GrantRequest request) override {
    GrantReply reply = right_grant(request);
    if (auto* granted = std::get_if<Granted>(&reply)) {
      granted->fence =
          state().fence_of_owner.try_emplace(request.owner, granted->fence).first->second;
    }
    return reply;
  }
};

struct EveryAttemptLinesUp final : BrokenGrant {
  using BrokenGrant::BrokenGrant;
  GrantReply grant(GrantRequest request) override {
    request.line_up = true;
    return right_grant(request);
  }
};

struct AskingAgainLosesThePlace final : BrokenGrant {
  using BrokenGrant::BrokenGrant;
  GrantReply grant(GrantRequest request) override {
    const auto holder = right_holder(request.name);
    if (!holder || holder->owner != request.owner) right_withdraw(request);
    return right_grant(request);
  }
};

struct StrangersOvertake final : BrokenGrant {
  using BrokenGrant::BrokenGrant;
  GrantReply grant(GrantRequest request) override {
    const GrantReply reply = right_grant(request);
    const LockView seen = right_view(request.name);
    if (!std::holds_alternative<Refused>(reply) || !seen.holds[0].offered) return reply;
    ClaimKey other = request;
    for (const ClaimView& waiting : seen.line) {
      other.owner = waiting.owner;
      right_withdraw(other);
    }
    other.owner = seen.holds[0].owner;
    right_withdraw(other);
    return right_grant(request);
  }
};

struct OffersHaveTheFullLease final : BrokenGrant {
  using BrokenGrant::BrokenGrant;
  GrantReply grant(GrantRequest request) override {
    request.confirm_within = request.lease;
    return right_grant(request);
  }
};

struct DeadWaitersStayInTheLine final : BrokenGrant {
  using BrokenGrant::BrokenGrant;
  GrantReply grant(GrantRequest request) override {
    request.line_for *= 100;
    return right_grant(request);
  }
};

struct LeasesLastTooLong final : BrokenGrant {
  using BrokenGrant::BrokenGrant;
  GrantReply grant(GrantRequest request) override {
    request.lease *= 2;
    return right_grant(request);
  }
};

struct LeasesAreTooShort final : BrokenGrant {
  using BrokenGrant::BrokenGrant;
  GrantReply grant(GrantRequest request) override {
    request.lease -= request.lease / 10;
    return right_grant(request);
  }
};

struct SparesAreNotReserved final : BrokenGrant {
  using BrokenGrant::BrokenGrant;
  GrantReply grant(GrantRequest request) override {
    const std::uint64_t asked = std::exchange(request.spare, 0);
    GrantReply reply = right_grant(request);
    if (auto* granted = std::get_if<Granted>(&reply)) granted->spare = asked;
    return reply;
  }
};

struct RefusalsNameNoHolder final : BrokenGrant {
  using BrokenGrant::BrokenGrant;
  GrantReply grant(GrantRequest request) override {
    GrantReply reply = right_grant(request);
    if (auto* refused = std::get_if<Refused>(&reply)) refused->holder.reset();
    return reply;
  }
};

struct WaitersAreToldToLookTooSoon final : BrokenGrant {
  using BrokenGrant::BrokenGrant;
  GrantReply grant(GrantRequest request) override {
    GrantReply reply = right_grant(request);
    if (auto* refused = std::get_if<Refused>(&reply)) refused->retry_after -= Duration(1);
    return reply;
  }
};

struct TheFenceCounterIsStale final : BrokenGrant {
  using BrokenGrant::BrokenGrant;
  GrantReply grant(GrantRequest request) override {
    GrantReply reply = right_grant(request);
    if (auto* refused = std::get_if<Refused>(&reply)) --refused->fence_counter;
    return reply;
  }
};

struct EveryKindIsAMutex final : BrokenGrant {
  using BrokenGrant::BrokenGrant;
  GrantReply grant(GrantRequest request) override {
    request.kind = Kind::mutex;
    request.shape = Shape::exclusive();
    return right_grant(request);
  }
};

struct GrantsWhatItDoesNotDeclare final : BrokenGrant {
  using BrokenGrant::BrokenGrant;
  Capabilities capabilities() const override {
    return {.mutex_any = true, .mutex_fifo = true, .hand_over = true, .inspect = true};
  }
  GrantReply grant(GrantRequest request) override { return right_grant(request); }
};

struct WritersShare final : BrokenGrant {
  using BrokenGrant::BrokenGrant;
  GrantReply grant(GrantRequest request) override {
    if (request.kind == Kind::shared_mutex) request.shape = Shape::shared();
    return right_grant(request);
  }
};

struct PermitsAreTakenOneByOne final : BrokenGrant {
  using BrokenGrant::BrokenGrant;
  GrantReply grant(GrantRequest request) override {
    request.shape.take = 1;
    return right_grant(request);
  }
};

struct ThereAreTwiceAsManyPermits final : BrokenGrant {
  using BrokenGrant::BrokenGrant;
  GrantReply grant(GrantRequest request) override {
    request.shape.of *= 2;
    return right_grant(request);
  }
};

struct SlotsAreAlwaysTheFirst final : BrokenGrant {
  using BrokenGrant::BrokenGrant;
  GrantReply grant(GrantRequest request) override {
    GrantReply reply = right_grant(request);
    if (auto* granted = std::get_if<Granted>(&reply)) {
      std::iota(granted->slots.begin(), granted->slots.end(), 0U);
    }
    return reply;
  }
};

struct ExchangesReleaseFirst final : BrokenGrant {
  using BrokenGrant::BrokenGrant;
  GrantReply grant(GrantRequest request) override {
    if (request.instead_of) right_release(*request.instead_of);
    request.instead_of.reset();
    return right_grant(request);
  }
};

struct ExchangesAreForgotten final : BrokenGrant {
  using BrokenGrant::BrokenGrant;
  GrantReply grant(GrantRequest request) override {
    request.instead_of.reset();
    return right_grant(request);
  }
};

// Answering from what it sees, it grants a revoked hold as well.
using RevokedHoldsAreRestarted = AskingAgainLeavesTheLeaseAsItWas;

// The place is kept under another claim number, since the store behind would not give it.
struct RevokedHoldersLineUp final : BrokenGrant {
  using BrokenGrant::BrokenGrant;
  GrantReply grant(GrantRequest request) override {
    const auto holder = right_holder(request.name);
    const GrantReply reply = right_grant(request);
    if (!holder || holder->owner != request.owner) return reply;
    if (!std::holds_alternative<Refused>(reply)) return reply;
    request.owner.claim += 1'000'000;
    right_grant(request);
    return reply;
  }
};

// --- renewals ---

struct RenewRecreates final : BrokenRenew {
  using BrokenRenew::BrokenRenew;
  RenewalReply renewal(const Renewal& each) override {
    const RenewalReply reply = right_renewal(each);
    if (!std::holds_alternative<Gone>(reply)) return reply;
    GrantRequest again;
    static_cast<ClaimKey&>(again) = each;
    again.lease = each.lease;
    if (!std::holds_alternative<Granted>(right_grant(again))) return reply;
    return Renewed{each.lease};
  }
};

struct RenewIgnoresTheFence final : BrokenRenew {
  using BrokenRenew::BrokenRenew;
  RenewalReply renewal(const Renewal& each) override {
    const auto holder = right_holder(each.name);
    Renewal any = each;
    if (holder && holder->owner == each.owner) any.fence = holder->fence;
    return right_renewal(any);
  }
};

struct RenewIgnoresTheOwner final : BrokenRenew {
  using BrokenRenew::BrokenRenew;
  RenewalReply renewal(const Renewal& each) override {
    const auto holder = right_holder(each.name);
    Renewal any = each;
    if (holder && holder->fence == each.fence) any.owner = holder->owner;
    return right_renewal(any);
  }
};

struct RenewKeepsTheOldLease final : BrokenRenew {
  using BrokenRenew::BrokenRenew;
  RenewalReply renewal(const Renewal& each) override {
    const auto holder = right_holder(each.name);
    const bool ours = holder && holder->owner == each.owner && holder->fence == each.fence;
    return ours ? RenewalReply(Renewed{each.lease}) : RenewalReply(Gone{});
  }
};

struct BatchesAreAnsweredBackwards final : BrokenRenew {
  using BrokenRenew::BrokenRenew;
  std::vector<RenewalReply> spoil(std::vector<RenewalReply> replies) override {
    std::reverse(replies.begin(), replies.end());
    return replies;
  }
};

// --- releases ---

struct ReleaseIgnoresTheFence final : BrokenRelease {
  using BrokenRelease::BrokenRelease;
  ReleaseReply release_of(const HoldKey& key) override {
    const auto holder = right_holder(key.name);
    return right_release(holder && holder->owner == key.owner ? *holder : key);
  }
};

struct ReleaseIgnoresTheOwner final : BrokenRelease {
  using BrokenRelease::BrokenRelease;
  ReleaseReply release_of(const HoldKey& key) override {
    const auto holder = right_holder(key.name);
    return right_release(holder && holder->fence == key.fence ? *holder : key);
  }
};

struct ReleaseFreesWhateverIsThere final : BrokenRelease {
  using BrokenRelease::BrokenRelease;
  ReleaseReply release_of(const HoldKey& key) override {
    return right_release(right_holder(key.name).value_or(key));
  }
};

struct ReleaseAlwaysSaysReleased final : BrokenRelease {
  using BrokenRelease::BrokenRelease;
  ReleaseReply release_of(const HoldKey& key) override {
    right_release(key);
    return Released{};
  }
};

// --- withdraws ---

struct WithdrawLeavesTheGrant final : BrokenWithdraw {
  using BrokenWithdraw::BrokenWithdraw;
  void withdraw_of(const ClaimKey& key) override {
    const auto holder = right_holder(key.name);
    if (!holder || holder->owner != key.owner) right_withdraw(key);
  }
};

struct WithdrawLeavesThePlace final : BrokenWithdraw {
  using BrokenWithdraw::BrokenWithdraw;
  void withdraw_of(const ClaimKey& key) override {
    const auto holder = right_holder(key.name);
    if (holder && holder->owner == key.owner) right_withdraw(key);
  }
};

// --- forced releases ---

struct RevokingDoesNothing final : BrokenForce {
  using BrokenForce::BrokenForce;
  ForceReply force(ForceRequest) override { return Forced{}; }
};

struct RevokingFreesAtOnce final : BrokenForce {
  using BrokenForce::BrokenForce;
  ForceReply force(ForceRequest request) override {
    request.now = true;
    return right_force(request);
  }
};

struct ForcingNowOnlyRevokes final : BrokenForce {
  using BrokenForce::BrokenForce;
  ForceReply force(ForceRequest request) override {
    request.now = false;
    return right_force(request);
  }
};

struct ForceIgnoresTheFence final : BrokenForce {
  using BrokenForce::BrokenForce;
  ForceReply force(ForceRequest request) override {
    if (const auto holder = right_holder(request.name)) request.fence = holder->fence;
    return right_force(request);
  }
};

// --- wakes ---

struct NobodyIsTold final : BrokenWatch {
  using BrokenWatch::BrokenWatch;
  void tell(const WakeFn&, const Wake&) override {}
};

struct TheSecondIsNotTold final : BrokenWatch {
  using BrokenWatch::BrokenWatch;
  void tell(const WakeFn& wake, const Wake& told) override {
    if (told.offer) wake(told);
  }
};

struct EverybodyIsTold final : BrokenWatch {
  using BrokenWatch::BrokenWatch;
  void tell(const WakeFn& wake, const Wake& told) override {
    wake(told);
    for (const WakeFn& each : state().watchers) each(Wake{});
  }
};

// The offer names the fence of the former holder, and that fence can be renewed and released.
struct HandOverKeepsTheOldFence final : BrokenStore {
  using BrokenStore::BrokenStore;
  void release(const HoldKey& key, Call<ReleaseReply> call) override {
    state().fence_of_name[key.name] = key.fence;
    inner().release(held(key), std::move(call));
  }
  void renew(std::span<const Renewal> renewals, Call<RenewReply> call) override {
    std::vector<Renewal> batch;
    for (const Renewal& each : renewals) batch.push_back(held(each));
    inner().renew(batch, std::move(call));
  }
  WatchPtr watch(const ClaimKey& key, WakeFn wake) override {
    return inner().watch(key, [this, name = key.name, wake = std::move(wake)](Wake told) {
      if (told.offer) told.offer->fence = state().fence_of_name[name];
      wake(told);
    });
  }

 private:
  template <class Key>
  Key held(Key key) {
    const auto holder = right_holder(key.name);
    if (holder && holder->owner == key.owner) key.fence = holder->fence;
    return key;
  }
};

// --- names and what is shown ---

struct NamesEndAtANul final : BrokenNames {
  using BrokenNames::BrokenNames;
  std::string mapped(std::string name) const override {
    const std::size_t length = name.find('\0');
    return length == 0 ? "empty" : name.substr(0, length);
  }
};

struct NamesAreCaseBlind final : BrokenNames {
  using BrokenNames::BrokenNames;
  std::string mapped(std::string name) const override {
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return name;
  }
};

struct LongNamesAreCut final : BrokenNames {
  using BrokenNames::BrokenNames;
  std::string mapped(std::string name) const override { return name.substr(0, 255); }
};

struct PatternsArePrefixes final : BrokenStore {
  using BrokenStore::BrokenStore;
  void inspect(std::string_view pattern, Call<InspectReply> call) override {
    inner().inspect(std::string(pattern) + "*", std::move(call));
  }
};

template <class Broken>
std::unique_ptr<Store> wrap(std::unique_ptr<Store> right, BrokenState& state) {
  return std::make_unique<Broken>(std::move(right), state);
}

}  // namespace

#define BROKEN(Store, Rule) \
  { #Store, #Rule, &wrap < Store> }

std::vector<Breakage> all_breakages() {
  return {
      BROKEN(SameOwnerGetsANewFence, TheSameOwnerAskingAgainGetsTheSameFence_F001),
      BROKEN(SameOwnerGetsANewFence, AskingAgainConfirmsTheVeryFenceThatWasOffered),
      BROKEN(AskingAgainLeavesTheLeaseAsItWas, AskingAgainRestartsTheLease),
      BROKEN(LapsedOwnerKeepsItsFence, ALapsedOwnerAskingAgainGetsAFreshFence),
      BROKEN(LapsedOwnerKeepsItsFence, TheSameOwnersNextGrantHasAGreaterFence),
      BROKEN(EveryAttemptLinesUp, AnImmediateAttemptLeavesNoPlace),
      BROKEN(AskingAgainLosesThePlace, AskingAgainKeepsThePlace),
      BROKEN(AskingAgainLosesThePlace, PlacesAreInTheOrderOfArrival),
      BROKEN(StrangersOvertake, AStrangerCannotOvertakeTheLine),
      BROKEN(StrangersOvertake, AnOfferKeepsEverybodyElseOut),
      BROKEN(OffersHaveTheFullLease, AnOfferThatIsNotConfirmedLapses_F029),
      BROKEN(OffersHaveTheFullLease, AnOfferThatIsNotConfirmedGoesToTheNext_F029),
      BROKEN(DeadWaitersStayInTheLine, APlaceThatIsNotRefreshedLapses_F029),
      BROKEN(DeadWaitersStayInTheLine, ADeadHeadIsPassedOverAndTheRestKeepTheirOrder_F029),
      BROKEN(LeasesLastTooLong, TheLeaseOfASilentHolderLapses_F028),
      BROKEN(LeasesAreTooShort, TheLeaseOfASilentHolderLapses_F028),
      BROKEN(SparesAreNotReserved, SparesStayReserved),
      BROKEN(RefusalsNameNoHolder, AHeldLockIsRefusedAndItsHolderNamed),
      BROKEN(WaitersAreToldToLookTooSoon, ARefusalSaysWhenLookingAgainMakesSense),
      BROKEN(TheFenceCounterIsStale, ARefusalNamesTheFenceCounter),
      BROKEN(GrantsWhatItDoesNotDeclare, WhatIsNotDeclaredIsRejectedAsUnsupported),
      BROKEN(EveryKindIsAMutex, AMutexIsExclusiveOnly),
      BROKEN(EveryKindIsAMutex, ReadersShareAndAWriterDoesNot),
      BROKEN(WritersShare, ReadersShareAndAWriterDoesNot),
      BROKEN(WritersShare, ReadersWaitBehindAWaitingWriter),
      BROKEN(PermitsAreTakenOneByOne, SeveralPermitsAreTakenTogetherOrNotAtAll_S25),
      BROKEN(PermitsAreTakenOneByOne, NobodyOvertakesAHeadThatWantsMany),
      BROKEN(ThereAreTwiceAsManyPermits, NoMorePermitsAreHeldThanThereAre_S24),
      BROKEN(SlotsAreAlwaysTheFirst, NoTwoHoldsHaveTheSameSlot),
      BROKEN(ExchangesReleaseFirst, AnUpgradeThatIsGivenUpKeepsTheOldHold),
      BROKEN(ExchangesReleaseFirst, WhatIsGoneCannotBeExchanged),
      BROKEN(ExchangesAreForgotten, ADowngradeLetsReadersInAndKeepsWritersOut_S21),
      BROKEN(RevokedHoldsAreRestarted, AskingAgainDoesNotRestartARevokedHold),
      BROKEN(RevokedHoldersLineUp, ARevokedHolderThatAsksAgainGetsNoPlaceInTheLine),
      BROKEN(RenewRecreates, ARenewalNeverRecreatesWhatWasReleased),
      BROKEN(RenewRecreates, ARenewalNeverRecreatesWhatHasLapsed_F006),
      BROKEN(RenewIgnoresTheFence, ARenewalComparesTheFence),
      BROKEN(RenewIgnoresTheOwner, ARenewalComparesTheOwner),
      BROKEN(RenewKeepsTheOldLease, ARenewalRestartsTheLease),
      BROKEN(RenewKeepsTheOldLease, AnOfferIsConfirmedByRenewingIt),
      BROKEN(BatchesAreAnsweredBackwards, ABatchIsAnsweredOneByOneAndInOrder),
      BROKEN(ReleaseIgnoresTheFence, ReleaseComparesTheFence),
      BROKEN(ReleaseIgnoresTheOwner, ReleaseByAStrangerIsGone_F031),
      BROKEN(ReleaseFreesWhateverIsThere, ReleaseOfALapsedHoldDoesNotDisturbTheNextHolder_F033),
      BROKEN(ReleaseFreesWhateverIsThere, ASecondReleaseIsGone_F032),
      BROKEN(ReleaseAlwaysSaysReleased, ReleaseAfterTheLeaseLapsedIsGone),
      BROKEN(WithdrawLeavesTheGrant, WithdrawReleasesAGrantMadeMeanwhile_F037),
      BROKEN(WithdrawLeavesTheGrant, WithdrawAtAnyMomentLeavesNothingBehind_F037),
      BROKEN(WithdrawLeavesThePlace, WithdrawLeavesTheLine_F037),
      BROKEN(RevokingDoesNothing, ARevokedHoldCannotBeRenewed),
      BROKEN(RevokingFreesAtOnce, ARevokedLockIsFreeWhenItsLeaseEnds),
      BROKEN(ForcingNowOnlyRevokes, ForcingNowFreesTheLockAtOnce),
      BROKEN(ForceIgnoresTheFence, ForceLeavesALockAloneThatHasChangedHands_F145),
      BROKEN(NobodyIsTold, ReleaseOffersTheLockToTheHead),
      BROKEN(TheSecondIsNotTold, TheSecondIsToldWhenToLookOrOfferedItThen),
      BROKEN(EverybodyIsTold, AReleaseWakesNobodyBehindTheSecond_F041),
      BROKEN(HandOverKeepsTheOldFence, AHandOverGivesAFreshFence),
      BROKEN(NamesEndAtANul, NamesOfAnyBytesAreDistinctLocks_F131_F132),
      BROKEN(NamesAreCaseBlind, NamesThatDifferOnlyByCaseAreTwoLocks_F111),
      BROKEN(LongNamesAreCut, NamesOfAnyBytesAreDistinctLocks_F131_F132),
      BROKEN(PatternsArePrefixes, PatternsCompareTheWholeName),
  };
}

}  // namespace holdfast::conformance
