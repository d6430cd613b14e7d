// What is shown: escapes, secrets, suggestions, tables, JSON.
#include "cli/json.hpp"
#include "cli/lock_names.hpp"
#include "cli/run/signal_name.hpp"
#include "cli/text/hide_secrets.hpp"
#include "cli/text/nearest.hpp"
#include "cli/text/shown.hpp"
#include "cli/text/table.hpp"
#include "cli/text/utf8.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <csignal>

namespace holdfast::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Shown, EscapesWhatATerminalWouldObey_F141) {
  EXPECT_EQ(shown("orders/42"), "orders/42");
  EXPECT_EQ(shown("Größe"), "Größe");
  EXPECT_EQ(shown("\x1b[31m"), "\\x1b[31m");
  EXPECT_EQ(shown("a\nb\r"), "a\\x0ab\\x0d");
  EXPECT_EQ(shown("\xc2\x9b"
                  "31m"),
            "\\xc2\\x9b31m")
      << "the one-character escape of C1";
  EXPECT_EQ(shown("\xe2\x80\xae"), "\\xe2\\x80\\xae") << "right to left";
  EXPECT_EQ(shown("\xff"), "\\xff");
  EXPECT_EQ(shown("a\\b\"c'"), "a\\x5cb\\x22c\\x27") << "so that it can be read back";
}

TEST(HideSecrets, MasksOrDropsPasswords_F137) {
  EXPECT_EQ(hide_secrets("redis://me:pw@host:6379/0"), "redis://me:***@host:6379/0");
  EXPECT_EQ(hide_secrets("redis://:pw@host"), "redis://:***@host");
  EXPECT_EQ(hide_secrets("redis://me:p/w?x@y@host"), "redis://me:***@host");
  EXPECT_EQ(hide_secrets("redis://me:pw@host", Secrets::drop), "redis://me@host");
  EXPECT_EQ(hide_secrets("x:y?password=pw&a=b"), "x:y?password=***&a=b");
  EXPECT_EQ(hide_secrets("x:y?a=b&auth_token=pw", Secrets::drop), "x:y?a=b");
  EXPECT_EQ(hide_secrets("x:y?PASSWORD=pw", Secrets::drop), "x:y");
  EXPECT_EQ(hide_secrets("x:y?p%61ssword=pw"), "x:y?p%61ssword=***");
}

TEST(HideSecrets, DoesNotTakeOptionsForAPartOfAPassword_F137) {
  EXPECT_EQ(hide_secrets("x://y:1?a@b=1&password=pw&z=1"), "x://y:***@b=1&password=***&z=1");
  EXPECT_EQ(hide_secrets("x://y:1?a@password=pw"), "x://y:***@password=***");
  EXPECT_EQ(hide_secrets("x://y:1?a@b=1&password=pw", Secrets::drop), "x://y@b=1");
  EXPECT_EQ(hide_secrets("redis://me:p?w@host/0?auth=pw"), "redis://me:***@host/0?auth=***");
}

TEST(HideSecrets, LeavesTheRestAsItIs) {
  for (const char* url : {"embedded:", "sqlite:/var/lib/x.db?wal=1", "redis://host:6379/0",
                          "redis://me@host", "", "nonsense"}) {
    EXPECT_EQ(hide_secrets(url), url);
  }
}

TEST(Nearest, SuggestsOnlyWhatIsNear) {
  const std::vector<std::string> words{"run", "release", "doctor"};
  EXPECT_EQ(nearest("relase", words), "release");
  EXPECT_EQ(nearest("rnu", words), std::nullopt);
  EXPECT_EQ(nearest("ru", words), "run");
  EXPECT_EQ(nearest("banana", words), std::nullopt);
}

TEST(Table, AlignsByCharactersNotBytes) {
  EXPECT_EQ(table_text({{"NAME", "X"}, {"ü", "1"}}), "NAME  X\nü     1\n");
}

TEST(PatternOf, MatchesThatNameOnly) {
  EXPECT_EQ(pattern_of("a*b?c\\d"), "a\\*b\\?c\\\\d");
  EXPECT_EQ(pattern_of("plain/1"), "plain/1");
}

TEST(SignalNames, AreReadInEveryForm) {
  EXPECT_EQ(signal_number("term"), SIGTERM);
  EXPECT_EQ(signal_number("SIGUSR1"), SIGUSR1);
  EXPECT_EQ(signal_number("9"), SIGKILL);
  EXPECT_EQ(signal_number("0"), std::nullopt);
  EXPECT_EQ(signal_number("-9"), std::nullopt);
  EXPECT_EQ(signal_number("999"), std::nullopt);
  EXPECT_EQ(signal_number(""), std::nullopt);
  EXPECT_EQ(signal_name(SIGINT), "SIGINT");
}

TEST(JsonText, SurvivesNamesThatAreNotText_F131) {
  LockInfo lock{.name = "a\xff\x1b", .mode = "exclusive", .holders = {}, .line = {}};
  lock.holders.push_back(
      {.record = {.owner = "o", .host = "\xfe", .program = "p\x7f", .reason = "\xc2\x9b"},
       .fence = FencingToken(kMaxFence),
       .lease_left = std::chrono::milliseconds(1500)});
  const std::string text = json_text(to_json(lock, "memory:", WallTime()));
  for (const char c : text) EXPECT_TRUE(c >= ' ' && c < 0x7f) << int(c);
  const Json back = Json::parse(text);
  EXPECT_EQ(back["name_hex"], "61ff1b");
  EXPECT_EQ(back["holders"][0]["fence"].get<std::uint64_t>(), kMaxFence);
  EXPECT_EQ(back["holders"][0]["lease_left"], 1.5);
  EXPECT_TRUE(back["holders"][0]["since"].is_null()) << "it does not tell";
  EXPECT_FALSE(
      Json::parse(json_text(to_json(LockInfo{"ok", "mutex", "exclusive", {}, {}}, "", WallTime())))
          .contains("name_hex"));
}

TEST(WallText, IsIsoInUtc) {
  EXPECT_EQ(iso_text(WallTime(std::chrono::microseconds(1'700'000'000'123'999))),
            "2023-11-14T22:13:20.123Z");
  EXPECT_EQ(iso_text(WallTime(std::chrono::microseconds(-1))), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace holdfast::cli
