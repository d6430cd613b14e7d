#include "integration/redis/twins.hpp"

#include <algorithm>
#include <sstream>
#include <utility>
#include <variant>

#include "rules/cell_entry.hpp"
#include "rules/objections.hpp"
#include "store/redis/cell_questions.hpp"
#include "store/redis/lock_answers.hpp"
#include "store/redis/lock_questions.hpp"

namespace holdfast::test {

using namespace store;

namespace {

std::string words(Duration time) { return std::to_string(time.count()) + " ns"; }

std::string words(const NoAnswer& no) {
  return "no answer: " + std::string(name_of(no.why)) + ": " + no.text;
}
std::string words(const Rejected& no) {
  return "rejected: " + std::string(name_of(no.why)) + ": " + no.text;
}
std::string words(const Renewed& yes) { return "renewed for " + words(yes.lease); }
std::string words(const Gone& gone) { return gone.forced ? "gone by force" : "gone"; }
std::string words(const Released& yes) {
  return yes.others_waiting ? "released, others wait" : "released";
}
std::string words(const Withdrawn&) { return "withdrawn"; }
std::string words(const Forced&) { return "forced"; }
std::string words(const ChangedHands&) { return "changed hands"; }
std::string words(const CellState& cell) {
  return "version " + std::to_string(cell.version) + ": " + cell.value;
}
std::string words(const Conflict& conflict) { return "conflict with " + words(conflict.now); }

template <class... Kinds>
std::string words(const std::variant<Kinds...>& reply) {
  return std::visit([](const auto& each) { return words(each); }, reply);
}

std::string words(const std::vector<std::uint32_t>& slots) {
  std::string text = "slots";
  for (const std::uint32_t slot : slots) text += " " + std::to_string(slot);
  return text;
}

std::string words(const ClaimView& claim, const std::string& fence) {
  std::ostringstream text;
  text << to_string(claim.owner) << " form " << static_cast<int>(claim.shape.form) << " "
       << claim.shape.take << "/" << claim.shape.of << " fence " << fence << " left "
       << claim.lease_left.count() << (claim.offered ? " offered" : "")
       << (claim.revoked ? " revoked" : "") << " record " << claim.record.owner << " "
       << describe(claim.record) << " " << claim.record.reason << "\n";
  return text.str();
}

std::string words(const rules::Told& told) {
  std::string text = to_string(told.who);
  if (!told.wake.offer) return text + " look after " + words(told.wake.look_after) + "\n";
  return text + " offer " + words(told.wake.offer->slots) + "\n";
}

}  // namespace

Twins::Twins(RedisServer& server, redis::Settings settings, std::vector<Edit> edits)
    : bench_(server, std::move(edits)), settings_(settings) {}

void Twins::differ(const std::string& verb, const std::string& model, const std::string& scripts) {
  if (!difference_) difference_ = verb + "\n  model:   " + model + "\n  scripts: " + scripts;
}

std::uint64_t Twins::theirs(std::uint64_t fence) const {
  const auto known = fences_.find(fence);
  return known == fences_.end() ? fence : known->second;
}

void Twins::note_given() {
  std::sort(given_.begin(), given_.end(),
            [](const GivenFence& a, const GivenFence& b) { return a.model < b.model; });
  for (const GivenFence& each : given_) {
    const auto [known, is_new] = fences_.emplace(each.model, each.scripts);
    std::uint64_t& newest = newest_fences_[each.name];
    if (!is_new) {
      compare("the fence of the same grant", std::to_string(known->second),
              std::to_string(each.scripts));
    } else if (each.scripts <= newest) {
      differ("a new fence", "above " + std::to_string(newest), std::to_string(each.scripts));
    }
    if (is_new) newest = each.scripts + each.spare;
  }
  given_.clear();
}

// What the scripts tell, in the order of the model's. The model's offers come with the scripts' fences.
void Twins::compare_told(const std::string& verb) {
  const std::vector<rules::Told> scripts = bench_.told();
  std::string expected, found;
  for (const rules::Told& each : told_) expected += words(each);
  for (const rules::Told& each : scripts) found += words(each);
  compare(verb + ": told", expected, found);
  for (std::size_t i = 0; i < std::min(told_.size(), scripts.size()); ++i) {
    if (!told_[i].wake.offer || !scripts[i].wake.offer) continue;
    given_.push_back({told_[i].wake.offer->fence, scripts[i].wake.offer->fence,
                      scripts[i].wake.offer->spare, locks_[told_[i].who]});
  }
  told_.clear();
  note_given();
}

std::string Twins::in_words(const GrantReply& reply, const LockName& name) const {
  if (const auto* yes = std::get_if<Granted>(&reply)) {
    return "granted for " + words(yes->lease) + ", " + words(yes->slots);
  }
  if (const auto* no = std::get_if<Refused>(&reply)) {
    // Of several that end at the same moment either one may be named.
    std::size_t same = 0;
    for (const LockView& view : views()) {
      if (view.name != name) continue;
      for (const ClaimView& hold : view.holds) same += hold.lease_left == no->lease_left;
    }
    return "refused by " +
           (!no->holder ? "nobody"
            : same > 1  ? "some"
                        : no->holder->owner) +
           ", left " + words(no->lease_left) + ", again after " + words(no->retry_after) +
           ", ahead " + std::to_string(no->ahead) + " of " + std::to_string(no->waiting);
  }
  if (const auto* no = std::get_if<Rejected>(&reply)) return words(*no);
  return words(std::get<NoAnswer>(reply));
}

void Twins::try_grant(const GrantRequest& ask) {
  if (rules::objection(ask))
    return;  // the scripts are not asked: nothing that has lapsed is dropped by it
  locks_[ask.owner] = ask.name;
  const GrantReply expected = model_.try_grant(ask, bench_.now(), told_);
  GrantRequest asked = ask;
  if (asked.instead_of) asked.instead_of->fence = theirs(asked.instead_of->fence);
  const GrantReply found =
      redis::grant_in(bench_.run(redis::ask_grant(asked, settings_, redis::Listens::already)))
          .reply;
  const std::string verb = "try_grant by " + to_string(ask.owner);
  compare(verb, in_words(expected, ask.name), in_words(found, ask.name));
  const auto* model = std::get_if<Granted>(&expected);
  const auto* scripts = std::get_if<Granted>(&found);
  if (model != nullptr && scripts != nullptr) {
    if (scripts->spare > ask.spare) differ(verb, "fewer spares", "more than asked for");
    given_.push_back({model->fence, scripts->fence, scripts->spare, ask.name});
  }
  compare_told(verb);
  const auto* refused = std::get_if<Refused>(&found);
  if (refused != nullptr && refused->fence_counter < newest_fences_[ask.name]) {
    differ(verb, "a counter of at least " + std::to_string(newest_fences_[ask.name]),
           std::to_string(refused->fence_counter));
  }
  look(ask.name, verb);
}

void Twins::renew(const std::vector<Renewal>& renewals) {
  std::string expected, found;
  std::vector<Renewal> asked = renewals;
  for (Renewal& each : asked) {
    expected += words(model_.renew(each, bench_.now(), told_)) + "; ";
    each.fence = theirs(each.fence);
  }
  const RenewReply reply =
      redis::renewals_in(bench_.run(redis::ask_renewals(asked, settings_)), asked.size());
  if (const auto* each = std::get_if<std::vector<RenewalReply>>(&reply)) {
    for (const RenewalReply& one : *each) found += words(one) + "; ";
  } else {
    found = words(std::get<NoAnswer>(reply));
  }
  const std::string verb = "renew " + to_string(renewals.front().owner);
  compare(verb, expected, found);
  compare_told(verb);
  for (const Renewal& each : renewals) look(each.name, verb);
}

void Twins::release(const HoldKey& key) {
  const auto expected = model_.release(key, bench_.now(), told_);
  HoldKey asked = key;
  asked.fence = theirs(key.fence);
  const auto found = redis::release_in(bench_.run(redis::ask_release(asked, settings_)));
  const std::string verb = "release " + to_string(key.owner);
  compare(verb, words(expected), words(found));
  compare_told(verb);
  look(key.name, verb);
}

void Twins::withdraw(const ClaimKey& key) {
  const auto expected = model_.withdraw(key, bench_.now(), told_);
  const auto found = redis::withdraw_in(bench_.run(redis::ask_withdraw(key, settings_)));
  const std::string verb = "withdraw " + to_string(key.owner);
  compare(verb, words(expected), words(found));
  compare_told(verb);
  look(key.name, verb);
}

void Twins::force_release(const ForceRequest& ask) {
  const auto expected = model_.force_release(ask, bench_.now(), told_);
  ForceRequest asked = ask;
  asked.fence = theirs(ask.fence);
  const auto found = redis::force_in(bench_.run(redis::ask_force(asked, settings_)));
  compare("force_release", words(expected), words(found));
  compare_told("force_release");
  look(ask.name, "force_release");
}

// A size that was set is there for the locks, too.
template <class Ask, class Verb>
void Twins::change(const Ask& ask, const redis::Question& question, Verb verb) {
  const CellReply expected = verb();
  CellReply found;
  if (auto no = rules::objection(ask)) {
    found = *std::move(no);
  } else {
    found = redis::change_in(bench_.run(question));
  }
  compare("a cell's change", words(expected), words(found));
  if (ask.key.kind == CellKind::size) {
    model_.set_size(ask.key.name, rules::size_in(cell(ask.key)), bench_.now(), told_);
  }
  compare_told("a cell's change");
  const CellReply read = redis::cell_in(bench_.command(redis::ask_cell(ask.key)));
  compare("a cell", words(cells_.read(ask.key)), words(read));
  look(ask.key.name, "a cell's change");
}

void Twins::write(const CellWrite& ask) {
  change(ask, redis::ask_write(ask, settings_), [&] { return cells_.write(ask, bench_.now()); });
}

void Twins::add(const CellAdd& ask) {
  change(ask, redis::ask_add(ask, settings_), [&] { return cells_.add(ask, bench_.now()); });
}

void Twins::look(const LockName& name, const std::string& after) {
  std::string expected, found;
  for (const LockView& view : views()) {
    if (view.name != name) continue;
    for (const auto& [claims, text] : {std::pair(&view.holds, "holds"), {&view.line, "line"}}) {
      expected +=
          std::string(text) + " of kind " + std::to_string(static_cast<int>(view.kind)) + "\n";
      for (const ClaimView& claim : *claims) {
        expected += words(claim, std::to_string(theirs(claim.fence)));
      }
    }
  }
  const auto reply = redis::view_in(bench_.run(redis::ask_view(name, settings_)), name);
  if (const auto* no = std::get_if<NoAnswer>(&reply)) {
    found = words(*no);
  } else if (const auto& view = std::get<std::optional<LockView>>(reply)) {
    for (const auto& [claims, text] : {std::pair(&view->holds, "holds"), {&view->line, "line"}}) {
      found +=
          std::string(text) + " of kind " + std::to_string(static_cast<int>(view->kind)) + "\n";
      for (const ClaimView& claim : *claims) found += words(claim, std::to_string(claim.fence));
    }
  }
  compare(after + ": what is seen of " + name.bytes(), expected, found);
}

void Twins::pass(Duration time) { bench_.pass(time); }

std::vector<LockView> Twins::views() const {
  return std::get<std::vector<LockView>>(model_.inspect("*", bench_.now()));
}

CellState Twins::cell(const CellKey& key) const { return std::get<CellState>(cells_.read(key)); }

}  // namespace holdfast::test
