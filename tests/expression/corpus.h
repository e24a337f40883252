#pragma once

#include <map>
#include <string>
#include <vector>

namespace hostler::expression {

/// One expression of the corpus, and what expr makes of it.
struct Case {
  bool boolean = false;    ///< A boolean is wanted; else a number.
  std::size_t values = 0;  ///< Index in Corpus::values.
  std::string expected;    ///< A number, true or false; "c", "r" or "-..." where it is refused.
  std::string text;
};

/// What tests/expression/main.go prints.
struct Corpus {
  std::string module, version, sum;
  std::string seed;
  std::vector<std::map<std::string, double>> values;  ///< Of inputs by their names.
  std::vector<Case> cases;
};

/// An unreadable file ends the test program.
Corpus read_corpus(const std::string& path);

}  // namespace hostler::expression
