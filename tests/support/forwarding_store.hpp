#pragma once

#include <memory>
#include <utility>

#include "holdfast/store/store.hpp"

namespace holdfast::test {

// A store that passes everything on to another one. Derive from it to change a verb.
class ForwardingStore : public store::Store {
 public:
  explicit ForwardingStore(std::unique_ptr<store::Store> inner) : inner_(std::move(inner)) {}

  store::Capabilities capabilities() const override { return inner_->capabilities(); }
  void try_grant(const store::GrantRequest& request, store::Call<store::GrantReply> call) override {
    inner_->try_grant(request, std::move(call));
  }
  void renew(std::span<const store::Renewal> renewals,
             store::Call<store::RenewReply> call) override {
    inner_->renew(renewals, std::move(call));
  }
  void release(const store::HoldKey& key, store::Call<store::ReleaseReply> call) override {
    inner_->release(key, std::move(call));
  }
  void withdraw(const store::ClaimKey& key, store::Call<store::WithdrawReply> call) override {
    inner_->withdraw(key, std::move(call));
  }
  store::WatchPtr watch(const store::ClaimKey& key, store::WakeFn wake) override {
    return inner_->watch(key, std::move(wake));
  }
  void inspect(std::string_view pattern, store::Call<store::InspectReply> call) override {
    inner_->inspect(pattern, std::move(call));
  }
  void force_release(const store::ForceRequest& request,
                     store::Call<store::ForceReply> call) override {
    inner_->force_release(request, std::move(call));
  }
  store::Cells* cells() override { return inner_->cells(); }
  std::string place_of(store::Kind kind, const store::LockName& name) const override {
    return inner_->place_of(kind, name);
  }
  void examine(store::Call<store::ExamineReply> call) override { inner_->examine(std::move(call)); }
  int lifeline() override { return inner_->lifeline(); }
  bool drive(const std::shared_ptr<store::BlockedCaller>& caller) override {
    return inner_->drive(caller);
  }
  void interrupt(const store::BlockedCaller& caller) override { inner_->interrupt(caller); }
  void close() override { inner_->close(); }

 protected:
  store::Store& inner() { return *inner_; }

 private:
  std::unique_ptr<store::Store> inner_;
};

}  // namespace holdfast::test
