#include "directory_test.hpp"

#include <algorithm>
#include <filesystem>

namespace holdfast::test {

using namespace store;

std::vector<std::string> DirectoryTest::files(char letter, const std::string& name) const {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(lock_folder(name))) {
    std::string file = entry.path().filename().string();
    if (file[0] == letter) found.push_back(std::move(file));
  }
  std::sort(found.begin(), found.end());
  return found;
}

OneStore::OneStore(const std::string& folder, const Clock& clock, std::uint64_t client,
                   Steps* steps)
    : client_{0x6f6e65, client},
      store_({directory::find_place({"dir", folder, {}}), clock, client_, steps}) {}

GrantRequest OneStore::request(std::uint64_t claim, std::string_view name) const {
  GrantRequest request;
  request.name = LockName::checked(name).value();
  request.owner = {client_, claim};
  request.lease = kLease;
  request.record.owner = to_string(request.owner);
  request.record.host = "web 1";
  return request;
}

HoldKey OneStore::key(std::uint64_t fence, std::uint64_t claim, std::string_view name) const {
  HoldKey key;
  static_cast<ClaimKey&>(key) = request(claim, name);
  key.fence = fence;
  return key;
}

GrantReply OneStore::ask(std::uint64_t claim, std::string_view name) {
  Answer<GrantReply> answer;
  store_.try_grant(request(claim, name), answer.call());
  return answer.reply();
}

std::uint64_t OneStore::granted(std::uint64_t claim, std::string_view name) {
  const GrantReply reply = ask(claim, name);
  const auto* granted = std::get_if<Granted>(&reply);
  return granted == nullptr ? 0 : granted->fence;
}

bool OneStore::renews(std::uint64_t fence, std::uint64_t claim, std::string_view name) {
  Renewal renewal;
  static_cast<HoldKey&>(renewal) = key(fence, claim, name);
  renewal.lease = kLease;
  Answer<RenewReply> answer;
  store_.renew({&renewal, 1}, answer.call());
  const auto* each = answer.get<std::vector<RenewalReply>>();
  return each != nullptr && std::holds_alternative<Renewed>(each->at(0));
}

bool OneStore::releases(std::uint64_t fence, std::uint64_t claim, std::string_view name) {
  Answer<ReleaseReply> answer;
  store_.release(key(fence, claim, name), answer.call());
  return answer.get<Released>() != nullptr;
}

bool OneStore::forces(std::uint64_t fence, bool now, std::string_view name) {
  ForceRequest request;
  request.name = LockName::checked(name).value();
  request.fence = fence;
  request.now = now;
  Answer<ForceReply> answer;
  store_.force_release(request, answer.call());
  return answer.get<Forced>() != nullptr;
}

void OneStore::pass(int times) {
  for (int i = 0; i < times; ++i) {
    const std::uint64_t fence = granted(1000);
    ASSERT_NE(fence, 0U);
    ASSERT_TRUE(releases(fence, 1000));
  }
}

}  // namespace holdfast::test
