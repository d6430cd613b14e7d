#include "checker/history_text.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace holdfast::check {
namespace {

// Every field has a value of its own, so that none can be lost or swapped unseen.
History full() {
  History h;
  h.terms = {.assumptions = {.timing = false, .store_keeps_data = true, .plain_counter = true},
             .ended = 1,
             .last_fault = 2,
             .longest_lease = 3,
             .served_within = 4,
             .served_by = kNever,
             .slack = 5,
             .jitter = 6,
             .drift_ppm = 7};
  h.acquires = {{.client = 4'294'967'295,
                 .op = 11,
                 .name = std::string("a b%\n\0\xff/\xc3\xa4", 10),
                 .owner = 12,
                 .order = Order::fifo,
                 .invoked = 13,
                 .returned = 14,
                 .outcome = Outcome::granted,
                 .wait_limit = 15,
                 .lined_up = 16,
                 .lost_place = true,
                 .fence = 18'446'744'073'709'551'615u,
                 .grant_fence = 17,
                 .spare = 18,
                 .sent = 19,
                 .lease_ns = 23,
                 .store_granted = 20,
                 .valid_end = 21,
                 .released = 22,
                 .crashed = true,
                 .mode = Mode::permits,
                 .take = 24,
                 .of = 25,
                 .replaces = 26},
                {}};
  h.renewals = {{.client = 31,
                 .owner = 32,
                 .name = "r",
                 .grant_fence = 33,
                 .sent = 34,
                 .answered = 35,
                 .outcome = Renewed::gone,
                 .lease_ns = 36,
                 .confirming = true}};
  h.verifications = {{.client = 45,
                      .name = "w",
                      .grant_fence = 46,
                      .invoked = 47,
                      .returned = 48,
                      .confirmed = true}};
  h.releases = {{.client = 41, .owner = 42, .name = "s", .grant_fence = 43, .sent = 44}};
  h.resource_ops = {{.client = 51,
                     .name = "t",
                     .fence = 52,
                     .at = 53,
                     .write = true,
                     .accepted = false,
                     .fenced_value = 54,
                     .twin_value = 55}};
  h.final_values = {{.name = "u", .fenced = 61, .twin = 62}};
  h.leftovers = {{.name = "v", .client = 71, .owner = 72, .in_line = true, .holds = false}};
  return h;
}

std::string text_of(const History& history) {
  std::ostringstream out;
  write(out, history);
  return out.str();
}

std::string error_in(const std::string& text) {
  std::istringstream in(text);
  History history;
  return read(in, history);
}

TEST(HistoryText, IsALinePerRecord) {
  EXPECT_EQ(text_of(full()),
            "terms 0 1 1 1 2 3 4 - 5 6 7\n"
            "acquire 4294967295 11 a%20b%25%0A%00%FF/%C3%A4 12 fifo 13 14 granted 15 16 1 "
            "18446744073709551615 17 18 19 23 20 21 22 1 permits 24 25 26\n"
            "acquire 0 0 % 0 any 0 - pending - - 0 0 0 0 - 0 - - - 0 exclusive 1 1 0\n"
            "renewal 31 32 r 33 34 35 gone 36 1\n"
            "verification 45 w 46 47 48 1\n"
            "release 41 42 s 43 44\n"
            "resource 51 t 52 53 1 0 54 55\n"
            "final u 61 62\n"
            "leftover v 71 72 1 0\n");
}

TEST(HistoryText, ComesBackExactly) {
  const std::string text = text_of(full());
  std::istringstream in(text);
  History back;
  EXPECT_EQ(read(in, back), "");
  EXPECT_EQ(text_of(back), text);
  EXPECT_EQ(back.terms, full().terms);
  EXPECT_EQ(back.acquires.at(0).name, full().acquires.at(0).name);
  EXPECT_EQ(back.acquires.at(1).name, "");
  EXPECT_EQ(back.acquires.at(1).returned, kNever);
}

TEST(HistoryText, KeepsEveryByteOfAName) {
  History history;
  for (int byte = 0; byte < 256; ++byte)
    history.final_values.push_back({std::string(1, static_cast<char>(byte)), 0, 0});
  std::stringstream text;
  write(text, history);
  History back;
  ASSERT_EQ(read(text, back), "");
  ASSERT_EQ(back.final_values.size(), 256u);
  for (std::size_t i = 0; i < 256; ++i)
    EXPECT_EQ(back.final_values[i].name, history.final_values[i].name);
}

TEST(HistoryText, MergesTheFilesOfManyProcesses) {
  History merged;
  for (std::uint32_t client = 1; client <= 3; ++client) {
    std::stringstream file;
    write(file, Acquire{.client = client, .name = "jobs"});
    write(file, ReleaseSent{.client = client, .name = "jobs"});
    ASSERT_EQ(read(file, merged), "");
  }
  EXPECT_EQ(merged.acquires.size(), 3u);
  EXPECT_EQ(merged.acquires[2].client, 3u);
  EXPECT_EQ(merged.releases.size(), 3u);
  EXPECT_EQ(merged.terms, Terms{});
}

TEST(HistoryText, NamesTheBadLine) {
  EXPECT_EQ(error_in("final u 1 2\nfinal u x 2\n"), "line 2: field 3 is 'x', not a number");
  EXPECT_EQ(error_in("final u 1\n"), "line 1: field 4 is '', not a number");
  EXPECT_EQ(error_in("final u 1 2 3\n"), "line 1: more fields than expected");
  EXPECT_EQ(error_in("final u 1 2 \n"), "line 1: more fields than expected");
  EXPECT_EQ(error_in("final u -1 2\n"), "line 1: field 3 is '-1', not a number");
  EXPECT_EQ(error_in("final u 18446744073709551616 2\n"),
            "line 1: field 3 is '18446744073709551616', not a number");
  EXPECT_EQ(error_in("final u%2 1 2\n"), "line 1: field 2 is 'u%2', not a name");
  EXPECT_EQ(error_in("final u%GG 1 2\n"), "line 1: field 2 is 'u%GG', not a name");
  EXPECT_EQ(error_in("final  1 2\n"), "line 1: field 2 is '', not a name");
  EXPECT_EQ(error_in("leftover v 1 2 yes 0\n"), "line 1: field 5 is 'yes', not 0 or 1");
  EXPECT_EQ(error_in("release 1 2 s 3 soon\n"), "line 1: field 6 is 'soon', not a time or -");
  EXPECT_EQ(error_in("renewal 31 32 r 33 34 35 lost 36 1\n"),
            "line 1: field 8 is 'lost', not a known word");
  EXPECT_EQ(error_in("lock\n"), "line 1: no record is called 'lock'");
  EXPECT_EQ(error_in("\n"), "line 1: no record is called ''");
  EXPECT_EQ(error_in("\x1B[2J\n"), "line 1: no record is called '?[2J'");
}

TEST(HistoryText, RefusesATornLine) {
  EXPECT_EQ(error_in("final u 1 2\nfinal u 1 2"), "line 2: it has no end");
}

TEST(HistoryText, KeepsWhatCameBeforeTheBadLine) {
  std::istringstream in("final u 1 2\nfinal\n");
  History history;
  EXPECT_NE(read(in, history), "");
  EXPECT_EQ(history.final_values.size(), 1u);
}

}  // namespace
}  // namespace holdfast::check
