#include <clocale>
#include <string>
#include <vector>

#include "cli/commands.hpp"

int main(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "");  // whether the terminal shows more than ASCII; numbers stay as in C
  const std::vector<std::string> words(argc > 0 ? argv + 1 : argv, argv + argc);
  return holdfast::cli::dispatch(words);
}
