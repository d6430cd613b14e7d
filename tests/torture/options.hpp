// What the command line of holdfast-torture asks for.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::torture {

struct Options {
  std::string url = "sqlite:{}/locks.db";  // {}: made for the run, see scene.hpp
  std::uint64_t seed = 1;
  std::uint64_t ops = 1000;   // acquires in all
  std::uint64_t faults = 50;  // in all; one for each twenty acquires unless chosen
  bool faults_chosen = false;
  std::uint32_t processes = 4;
  std::chrono::milliseconds lease{600};
  bool json = false;
  bool help = false;
  std::string report{};  // a folder
  std::string bug{};     // hidden: what goes wrong on purpose, to see whether it is noticed
};

struct Parsed {
  Options options;
  std::string error{};  // what is wrong with the command line; empty: nothing
};

Parsed parse(const std::vector<std::string>& arguments);

// How to run it again.
std::string command_line(const Options&);

std::string help_text();

}  // namespace holdfast::torture
