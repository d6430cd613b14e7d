#include "checker/history_text.hpp"

#include <array>
#include <charconv>
#include <concepts>
#include <istream>
#include <optional>
#include <ostream>
#include <type_traits>
#include <utility>
#include <vector>

namespace holdfast::check {
namespace {

template <class Record, class Type>
concept Like = std::same_as<std::remove_const_t<Record>, Type>;

// The fields of each record, once for both directions: `io` either writes or fills what it is
// given.
template <class Io, Like<Terms> R>
void fields(Io& io, R& r) {
  io(r.assumptions.timing), io(r.assumptions.store_keeps_data), io(r.assumptions.plain_counter);
  io(r.ended), io(r.last_fault), io(r.longest_lease), io(r.served_within), io(r.served_by);
  io(r.slack), io(r.jitter), io(r.drift_ppm);
}
template <class Io, Like<Acquire> R>
void fields(Io& io, R& r) {
  io(r.client), io(r.op), io(r.name), io(r.owner), io(r.order);
  io(r.invoked), io(r.returned), io(r.outcome), io(r.wait_limit);
  io(r.lined_up), io(r.lost_place);
  io(r.fence), io(r.grant_fence), io(r.spare), io(r.sent), io(r.lease_ns), io(r.store_granted);
  io(r.valid_end), io(r.released), io(r.crashed);
  io(r.mode), io(r.take), io(r.of), io(r.replaces);
}
template <class Io, Like<Renewal> R>
void fields(Io& io, R& r) {
  io(r.client), io(r.owner), io(r.name), io(r.grant_fence);
  io(r.sent), io(r.answered), io(r.outcome), io(r.lease_ns), io(r.confirming);
}
template <class Io, Like<Verification> R>
void fields(Io& io, R& r) {
  io(r.client), io(r.name), io(r.grant_fence), io(r.invoked), io(r.returned), io(r.confirmed);
}
template <class Io, Like<ReleaseSent> R>
void fields(Io& io, R& r) {
  io(r.client), io(r.owner), io(r.name), io(r.grant_fence), io(r.sent);
}
template <class Io, Like<ResourceOp> R>
void fields(Io& io, R& r) {
  io(r.client), io(r.name), io(r.fence), io(r.at), io(r.write), io(r.accepted), io(r.fenced_value),
      io(r.twin_value);
}
template <class Io, Like<FinalValue> R>
void fields(Io& io, R& r) {
  io(r.name), io(r.fenced), io(r.twin);
}
template <class Io, Like<Leftover> R>
void fields(Io& io, R& r) {
  io(r.name), io(r.client), io(r.owner), io(r.in_line), io(r.holds);
}

constexpr std::string_view kTerms = "terms", kAcquire = "acquire", kRenewal = "renewal",
                           kVerification = "verification", kRelease = "release",
                           kResource = "resource", kFinal = "final", kLeftover = "leftover";

// The words of an enumeration, in the order of its values.
constexpr std::array<std::string_view, 2> words(Order) { return {"any", "fifo"}; }
constexpr std::array<std::string_view, 4> words(Mode) {
  return {"exclusive", "shared", "upgradeable", "permits"};
}
constexpr std::array<std::string_view, 3> words(Renewed) {
  return {"renewed", "gone", "no_answer"};
}
constexpr std::array<std::string_view, 8> words(Outcome) {
  return {"granted", "busy",        "timed_out", "cancelled",
          "unknown", "unavailable", "other",     "pending"};
}

constexpr bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         std::string_view{"-._~/:@"}.find(c) != std::string_view::npos;
}

// Of a file that may hold anything, as a terminal may show it.
std::string shown(std::string_view text) {
  std::string plain(text);
  for (char& c : plain) {
    if (c < ' ' || c > '~') c = '?';
  }
  return plain;
}

constexpr std::string_view kHex = "0123456789ABCDEF";

std::optional<std::string> decode_name(std::string_view text) {
  if (text == "%") return std::string{};
  if (text.empty()) return std::nullopt;
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_plain(text[i])) {
      name += text[i];
      continue;
    }
    if (text[i] != '%' || i + 2 >= text.size()) return std::nullopt;
    const auto high = kHex.find(text[i + 1]), low = kHex.find(text[i + 2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    name += static_cast<char>(static_cast<unsigned char>(high * 16 + low));
    i += 2;
  }
  return name;
}

class LineWriter {
 public:
  LineWriter(std::ostream& out, std::string_view tag) : out_(out), line_(tag) {}
  ~LineWriter() { out_ << (line_ += '\n'); }
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  void operator()(bool flag) { add(flag ? "1" : "0"); }
  void operator()(const std::string& name) { add(encode_name(name)); }
  void operator()(Time time) { add(time == kNever ? "-" : std::to_string(time)); }
  template <std::unsigned_integral N>
  void operator()(N number) {
    add(std::to_string(number));
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void operator()(Enum value) { add(words(value).at(static_cast<std::size_t>(value))); }

 private:
  void add(std::string_view field) { (line_ += ' ') += field; }

  std::ostream& out_;
  std::string line_;
};

// Takes one line apart. The first field that does not fit is remembered; the rest is then left
// alone.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : rest_(line) {}

  void operator()(bool& flag) {
    const auto text = next();
    if (text != "0" && text != "1") return refuse(text, "0 or 1");
    flag = text == "1";
  }
  void operator()(std::string& name) {
    const auto text = next();
    auto decoded = decode_name(text);
    if (!decoded) return refuse(text, "a name");
    name = std::move(*decoded);
  }
  void operator()(Time& time) {
    const auto text = next();
    if (text == "-") {
      time = kNever;
    } else {
      parse(text, time, "a time or -");
    }
  }
  template <std::unsigned_integral N>
  void operator()(N& number) {
    parse(next(), number, "a number");
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void operator()(Enum& value) {
    const auto text = next();
    const auto known = words(Enum{});
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i] == text) return void(value = static_cast<Enum>(i));
    }
    refuse(text, "a known word");
  }

  std::string_view next() {
    ++field_;
    if (done_) return {};
    const auto space = rest_.find(' ');
    const auto text = rest_.substr(0, space);
    done_ = space == std::string_view::npos;
    if (!done_) rest_.remove_prefix(space + 1);
    return text;
  }
  void refuse(std::string_view text, std::string_view wanted) {
    if (!error_.empty()) return;
    error_ =
        "field " + std::to_string(field_) + " is '" + shown(text) + "', not " + std::string{wanted};
  }
  std::string finish() {
    if (error_.empty() && !done_) error_ = "more fields than expected";
    return error_;
  }

 private:
  template <class N>
  void parse(std::string_view text, N& number, std::string_view wanted) {
    N parsed{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty())
      return refuse(text, wanted);
    number = parsed;
  }

  std::string_view rest_;
  bool done_ = false;
  int field_ = 0;
  std::string error_;
};

template <class Record>
void write_line(std::ostream& out, std::string_view tag, const Record& record) {
  LineWriter line(out, tag);
  fields(line, record);
}

template <class Record>
std::string add_record(LineReader& line, std::vector<Record>& into) {
  Record record;
  fields(line, record);
  auto error = line.finish();
  if (error.empty()) into.push_back(std::move(record));
  return error;
}

std::string add_terms(LineReader& line, Terms& into) {
  Terms terms;
  fields(line, terms);
  auto error = line.finish();
  if (error.empty()) into = terms;
  return error;
}

std::string add_line(std::string_view text, History& into) {
  LineReader line(text);
  const auto tag = line.next();
  if (tag == kTerms) return add_terms(line, into.terms);
  if (tag == kAcquire) return add_record(line, into.acquires);
  if (tag == kRenewal) return add_record(line, into.renewals);
  if (tag == kVerification) return add_record(line, into.verifications);
  if (tag == kRelease) return add_record(line, into.releases);
  if (tag == kResource) return add_record(line, into.resource_ops);
  if (tag == kFinal) return add_record(line, into.final_values);
  if (tag == kLeftover) return add_record(line, into.leftovers);
  return "no record is called '" + shown(tag) + "'";
}

}  // namespace

std::string encode_name(std::string_view name) {
  if (name.empty()) return "%";
  std::string text;
  for (const char c : name) {
    if (is_plain(c)) {
      text += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    text += '%';
    text += kHex[byte / 16];
    text += kHex[byte % 16];
  }
  return text;
}

std::string_view to_word(Outcome outcome) {
  return words(outcome).at(static_cast<std::size_t>(outcome));
}

void write(std::ostream& out, const Terms& terms) { write_line(out, kTerms, terms); }
void write(std::ostream& out, const Acquire& acquire) { write_line(out, kAcquire, acquire); }
void write(std::ostream& out, const Renewal& renewal) { write_line(out, kRenewal, renewal); }
void write(std::ostream& out, const Verification& verification) {
  write_line(out, kVerification, verification);
}
void write(std::ostream& out, const ReleaseSent& release) { write_line(out, kRelease, release); }
void write(std::ostream& out, const ResourceOp& op) { write_line(out, kResource, op); }
void write(std::ostream& out, const FinalValue& value) { write_line(out, kFinal, value); }
void write(std::ostream& out, const Leftover& leftover) { write_line(out, kLeftover, leftover); }

void write(std::ostream& out, const History& history) {
  write(out, history.terms);
  for (const auto& record : history.acquires) write(out, record);
  for (const auto& record : history.renewals) write(out, record);
  for (const auto& record : history.verifications) write(out, record);
  for (const auto& record : history.releases) write(out, record);
  for (const auto& record : history.resource_ops) write(out, record);
  for (const auto& record : history.final_values) write(out, record);
  for (const auto& record : history.leftovers) write(out, record);
}

std::string read(std::istream& in, History& into) {
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    const bool torn = in.eof();  // getline met the end before a newline
    const auto error = torn ? "it has no end" : add_line(line, into);
    if (!error.empty()) return "line " + std::to_string(number) + ": " + error;
  }
  return in.bad() ? "the file cannot be read" : "";
}

}  // namespace holdfast::check
