// Histories as text, one record per line, so that many processes can each append to a file of their
// own and the checker merges them.
//
// A line is a tag and its fields in the order of history.hpp, separated by single spaces; "-" is
// kNever, names are percent-encoded. Write a line with one write(2): a killed process then leaves
// no torn line.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "checker/history.hpp"

namespace holdfast::check {

void write(std::ostream& out, const Terms& terms);
void write(std::ostream& out, const Acquire& acquire);
void write(std::ostream& out, const Renewal& renewal);
void write(std::ostream& out, const Verification& verification);
void write(std::ostream& out, const ReleaseSent& release);
void write(std::ostream& out, const ResourceOp& op);
void write(std::ostream& out, const FinalValue& value);
void write(std::ostream& out, const Leftover& leftover);
void write(std::ostream& out, const History& history);

// Adds what it reads to `into`; the terms read last hold. Returns an empty string, or what is wrong
// with the first bad line, which it names; the lines before that one are in `into`. A last line
// without its newline is bad: it was torn.
[[nodiscard]] std::string read(std::istream& in, History& into);

// A name in plain ASCII, without spaces and reversible: bytes that are not plain become %XX, no
// name at all becomes %.
std::string encode_name(std::string_view name);

std::string_view to_word(Outcome outcome);

}  // namespace holdfast::check
