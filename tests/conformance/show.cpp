#include "conformance/show.hpp"

#include <variant>

namespace holdfast::conformance {

using namespace store;

namespace {

struct InWords {
  std::string operator()(const NoAnswer& no) const {
    return "no_answer(" + std::string(name_of(no.why)) +
           (no.executed ? ", maybe executed" : ", not executed") + ") " + no.text;
  }
  std::string operator()(const Rejected& no) const {
    return "rejected(" + std::string(name_of(no.why)) + ") " + no.text;
  }
  std::string operator()(const Granted& yes) const {
    return "granted(fence " + std::to_string(yes.fence) + ", spare " + std::to_string(yes.spare) +
           ", lease " + std::to_string(yes.lease.count()) + " ns)";
  }
  std::string operator()(const Refused& no) const {
    return "refused(holder " + (no.holder ? describe(*no.holder) : "unknown") + ", ahead " +
           std::to_string(no.ahead) + ", waiting " + std::to_string(no.waiting) + ")";
  }
  std::string operator()(const Renewed&) const { return "renewed"; }
  std::string operator()(const Gone& gone) const { return gone.forced ? "gone(forced)" : "gone"; }
  std::string operator()(const Released& yes) const {
    return yes.others_waiting ? "released(others wait)" : "released";
  }
  std::string operator()(const Forced&) const { return "forced"; }
  std::string operator()(const ChangedHands&) const { return "changed hands"; }
};

}  // namespace

std::string show(const ClaimKey& key) {
  return "claim " + std::to_string(key.owner.claim) + " of client " +
         std::to_string(key.owner.client.low) + " on \"" + printable(key.name.bytes()) + "\"";
}
std::string show(const GrantReply& reply) { return std::visit(InWords{}, reply); }
std::string show(const RenewalReply& reply) { return std::visit(InWords{}, reply); }
std::string show(const ReleaseReply& reply) { return std::visit(InWords{}, reply); }
std::string show(const ForceReply& reply) { return std::visit(InWords{}, reply); }

}  // namespace holdfast::conformance
