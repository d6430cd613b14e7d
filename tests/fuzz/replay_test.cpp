// The fuzz targets without libFuzzer: over the inputs that are kept, and random changes of these.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/mutations.hpp"
#include "fuzz/target.hpp"
#include "support/effort.hpp"

namespace holdfast::fuzz {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_of_targets() {
  std::vector<std::string> names;
  for (const auto& [name, run] : Target::all()) names.push_back(name);
  return names;
}

std::vector<std::string> corpus_of(const std::string& target) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(HOLDFAST_FUZZ_CORPUS) / target)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());  // so that a seed means the same everywhere
  std::vector<std::string> inputs;
  for (const fs::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return inputs;
}

// "" if the target is content, else what is wrong. An exception is a finding, whatever it is.
std::string complaint(Target::Run run, const std::string& input) {
  try {
    run(input);
    return "";
  } catch (const std::exception& error) {
    return std::string(error.what()) + ", for " + testing::PrintToString(input);
  }
}

class FuzzReplay : public testing::TestWithParam<std::string> {
 protected:
  const Target::Run run_ = Target::all().at(GetParam());
  const std::vector<std::string> corpus_ = corpus_of(GetParam());
};

TEST_P(FuzzReplay, HasNothingToSayAboutItsCorpus) {
  EXPECT_FALSE(corpus_.empty());
  EXPECT_EQ(complaint(run_, ""), "");
  for (const std::string& input : corpus_) EXPECT_EQ(complaint(run_, input), "");
}

TEST_P(FuzzReplay, HasNothingToSayAboutRandomChanges) {
  const unsigned seed = test::chosen_seed();
  Mutations mutations(corpus_, seed);
  const int rounds = test::times_from("HOLDFAST_FUZZ_ROUNDS", test::kSanitized ? 500 : 5'000);
  for (int round = 0; round < rounds; ++round) {
    ASSERT_EQ(complaint(run_, mutations.next()), "") << "HOLDFAST_SEED=" << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzReplay, testing::ValuesIn(names_of_targets()),
                         [](const auto& target) { return target.param; });

TEST(FuzzCorpus, HasAFolderForEachTarget) {
  std::vector<std::string> folders;
  for (const auto& entry : fs::directory_iterator(HOLDFAST_FUZZ_CORPUS)) {
    folders.push_back(entry.path().filename());
  }
  EXPECT_THAT(folders, testing::UnorderedElementsAreArray(names_of_targets()));
}

TEST(FuzzTarget, SaysWhatDoesNotHold) {
  const auto refuses_x = [](std::string_view bytes) {
    require(bytes.find('x') == std::string_view::npos, "there is no x");
  };
  EXPECT_EQ(complaint(refuses_x, "abc"), "");
  EXPECT_THAT(complaint(refuses_x, "axc"), testing::HasSubstr("there is no x"));
}

// A property that is broken by one byte only is found from inputs that keep it.
TEST(FuzzMutations, FindWhatOneChangeBreaks) {
  const std::vector<std::string> corpus{"lease 30", "wait 5"};
  Mutations mutations(corpus, 1);
  bool longer = false, shorter = false, odd = false, crossed = false;
  for (int i = 0; i < 10'000; ++i) {
    const std::string input = mutations.next();
    longer |= input.size() > 8;
    shorter |= input.size() < 4;
    odd |= input.find("9223372036854775807") != std::string::npos;
    crossed |= input == "lease 5";
  }
  EXPECT_TRUE(longer && shorter && odd && crossed);
}

}  // namespace
}  // namespace holdfast::fuzz
