#include "store/directory/texts.hpp"

#include <charconv>
#include <map>
#include <optional>
#include <sstream>

#include "store/directory/failure.hpp"
#include "store/directory/folder_name.hpp"

namespace holdfast::store::directory {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr const char* kTitle = "holdfast";
constexpr const char* kEnd = "end\n";

template <class Number>
std::optional<Number> number_from(const std::string& text, int base = 10) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// The lines of a file that has been checked to be whole.
class Lines {
 public:
  Lines(const std::string& text, const std::string& path) : path_(path) {
    if (!text.ends_with(std::string("\n") + kEnd)) corrupt("it is cut short");
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const auto space = line.find(' ');
      if (space != std::string::npos) values_[line.substr(0, space)] = line.substr(space + 1);
    }
    const auto version = integer<std::uint64_t>(kTitle);
    if (version != kVersion) {
      throw Failure(Errc::unsupported, shown(path_) + " was written by version " +
                                           std::to_string(version) +
                                           " of this layout, and this program knows version " +
                                           std::to_string(kVersion));
    }
  }

  template <class Number>
  Number integer(const char* word) const {
    const auto number = number_from<Number>(value(word));
    if (!number) corrupt(std::string(word) + " is no number");
    return *number;
  }

  std::string bytes(const char* word) const {
    const auto plain = unescaped(value(word));
    if (!plain) corrupt(std::string(word) + " is not readable");
    return *plain;
  }

  OwnerId owner() const {
    const std::string text = value("owner");
    const auto high = number_from<std::uint64_t>(text.substr(0, 16), 16);
    if (!high || text.size() < 34 || text[32] != ':') corrupt("owner is not readable");
    const auto low = number_from<std::uint64_t>(text.substr(16, 16), 16);
    const auto claim = number_from<std::uint64_t>(text.substr(33));
    if (!low || !claim) corrupt("owner is not readable");
    return {{*high, *low}, *claim};
  }

  Duration lease() const {
    const Duration lease(integer<Duration::rep>("lease_ns"));
    if (lease <= Duration::zero()) corrupt("there is no lease");
    return lease;
  }

 private:
  const std::string& value(const char* word) const {
    const auto found = values_.find(word);
    if (found == values_.end()) corrupt(std::string(word) + " is missing");
    return found->second;
  }

  [[noreturn]] void corrupt(const std::string& what) const {
    throw Failure(Errc::store_corrupt, shown(path_) + " is damaged: " + what);
  }

  const std::string& path_;
  std::map<std::string, std::string> values_;
};

}  // namespace

std::string text_of(const Claim& claim) {
  std::ostringstream text;
  text << kTitle << ' ' << kVersion << "\nowner " << to_string(claim.owner)  //
       << "\nlease_ns " << claim.lease.count()                               //
       << "\nspare " << claim.spare                                          //
       << "\nhost " << escaped(claim.record.host)                            //
       << "\npid " << claim.record.pid                                       //
       << "\nprogram " << escaped(claim.record.program)                      //
       << "\nsince_us " << claim.record.since.time_since_epoch().count()     //
       << "\nreason " << escaped(claim.record.reason) << '\n'
       << kEnd;
  return text.str();
}

std::string text_of(const Beat& beat) {
  std::ostringstream text;
  text << kTitle << ' ' << kVersion << "\nbeat " << beat.count << "\nlease_ns "
       << beat.lease.count() << '\n'
       << kEnd;
  return text.str();
}

Claim claim_from(const std::string& text, const std::string& path) {
  const Lines lines(text, path);
  Claim claim;
  claim.owner = lines.owner();
  claim.lease = lines.lease();
  claim.spare = lines.integer<std::uint64_t>("spare");
  claim.record.owner = to_string(claim.owner);
  claim.record.host = lines.bytes("host");
  claim.record.pid = lines.integer<std::int64_t>("pid");
  claim.record.program = lines.bytes("program");
  claim.record.since = WallTime(std::chrono::microseconds(lines.integer<std::int64_t>("since_us")));
  claim.record.reason = lines.bytes("reason");
  return claim;
}

Beat beat_from(const std::string& text, const std::string& path) {
  const Lines lines(text, path);
  return {lines.integer<std::uint64_t>("beat"), lines.lease()};
}

}  // namespace holdfast::store::directory
