#include <set>

#include "conformance/rule.hpp"

namespace holdfast::conformance {

using namespace store;
using namespace std::string_literals;

namespace {

// Names that somebody's encoding, query, pattern, path or terminal has stumbled over. Every two of
// them that look alike are here because a careless mapping would make them one.
std::vector<std::string> awkward_names() {
  std::vector<std::string> names{
      "a",        "A",        "a ",        " a",       "a/b",      "a//b",     "/a",
      "a/",       "..",       "../a",      ".",        "a%2Fb",    "a%252Fb",  "%",
      "%%",       "%s%n",     "{a}",       "a}",       "{a",       "{}",       "{a}{b}",
      "a:b",      "a::b",     ":",         "a*",       "*",        "?",        "a?",
      "[a]",      "a\\b",     "\\",        "a\\x00",   "a\0"s,     "a\0b"s,    "\0"s,
      "\0\0"s,    "a\nb",     "a\r\nb",    "\n",       "a\tb",     "'",        "''",
      "\"",       "`a`",      "a'; --",    "$(a)",     "<b>a",     "\x1b[31m", "\xff",
      "\xff\xfe", "\xc3\xa4", "a\xcc\x88", "\xc0\xaf", "\x80",     "name=1",   "a&b=c",
      "a#b",      "a@b",      "a,b",       "a;b",      "a|b",      "g1",       "0",
      "00",       "-0",       "null",      "NULL",     "holdfast", "lock:a",   "redisson_lock:{a}"};
  std::string longest(LockName::kMaxBytes, 'x');
  names.push_back(longest);
  longest.back() = 'y';
  names.push_back(longest);
  names.push_back(longest.substr(1));
  names.emplace_back(LockName::kMaxBytes, '\0');
  names.emplace_back(LockName::kMaxBytes, '/');
  names.emplace_back(LockName::kMaxBytes, '\xff');
  return names;
}

}  // namespace

HOLDFAST_RULE(NamesOfAnyBytesAreDistinctLocks_F131_F132) {
  std::vector<std::pair<Claimant*, std::uint64_t>> holds;
  const Claimant& client = on.claimant();
  const Claimant& other_client = on.claimant();
  for (const std::string& name : awkward_names()) {
    SCOPED_TRACE(printable(name));
    Claimant& owner = on.claimant_beside(client, name);
    holds.emplace_back(&owner, owner.granted().fence);
  }
  for (const auto& [owner, fence] : holds) {
    SCOPED_TRACE(printable(owner->key().name.bytes()));
    EXPECT_TRUE(owner->renews(fence));
  }
  for (const auto& [owner, fence] : holds) {
    SCOPED_TRACE(printable(owner->key().name.bytes()));
    on.claimant_beside(other_client, owner->key().name.bytes()).refused();
    EXPECT_TRUE(owner->releases(fence));
  }
}

HOLDFAST_RULE(NamesComeBackFromTheStoreAsTheyWentIn_F131) {
  HOLDFAST_NEEDS(inspect);
  std::set<std::string> expected;
  const Claimant& client = on.claimant();
  for (const std::string& name : awkward_names()) {
    on.claimant_beside(client, name).granted();
    expected.insert(name);
  }
  std::set<std::string> shown;
  for (const LockView& seen : on.look("*")) shown.insert(seen.name.bytes());
  EXPECT_EQ(shown, expected);
}

HOLDFAST_RULE(EverySingleByteIsANameOfItsOwn_F132) {
  const Claimant& client = on.claimant();
  for (int byte = 0; byte < 256; ++byte) {
    const std::string name(1, static_cast<char>(byte));
    SCOPED_TRACE(printable(name));
    on.claimant_beside(client, name).granted();
  }
}

HOLDFAST_RULE(NamesThatDifferOnlyByCaseAreTwoLocks_F111) {
  on.claimant("invoices").granted();
  on.claimant("Invoices").granted();
  on.claimant("INVOICES").granted();
}

HOLDFAST_RULE(ANameAndItsChildAreTwoLocks) {
  Claimant& parent = on.claimant("a");
  Claimant& child = on.claimant("a/b");
  const Granted below = child.granted();
  const Granted above = parent.granted();
  EXPECT_TRUE(parent.releases(above.fence));
  EXPECT_TRUE(child.renews(below.fence));
}

HOLDFAST_RULE(WaitersOfAwkwardNamesAreHandedTheRightLock_F131) {
  HOLDFAST_NEEDS(hand_over);
  const Claimant& client = on.claimant();
  const Claimant& other_client = on.claimant();
  for (const std::string& name : awkward_names()) {
    SCOPED_TRACE(printable(name));
    Claimant& holder = on.claimant_beside(client, name);
    Claimant& waiter = on.claimant_beside(other_client, name);
    const Granted granted = holder.granted();
    waiter.watch();
    waiter.refused(in_line());
    EXPECT_TRUE(holder.releases(granted.fence));
    EXPECT_TRUE(waiter.renews(waiter.offered().fence));
  }
}

}  // namespace holdfast::conformance
