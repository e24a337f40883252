#include "tests/expression/corpus.h"

#include <zlib.h>

#include <cstdlib>
#include <sstream>

#include "core/base/assert.h"

namespace hostler::expression {
namespace {

std::string unpacked(const std::string& path) {
  const gzFile file = ::gzopen(path.c_str(), "rb");
  HOSTLER_ASSERT(file != nullptr, "the corpus is there");
  std::string out, part(1U << 20U, '\0');
  int count = 0;
  while ((count = ::gzread(file, part.data(), static_cast<unsigned>(part.size()))) > 0)
    out.append(part, 0, static_cast<std::size_t>(count));
  HOSTLER_ASSERT(count == 0 && ::gzclose(file) == Z_OK, "the corpus is whole");
  return out;
}

std::string unescaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    ++i;
    out += text[i] == 'n' ? '\n' : text[i] == 'r' ? '\r' : text[i];
  }
  return out;
}

std::map<std::string, double> read_values(std::istringstream& words) {
  std::map<std::string, double> out;
  for (std::string word; words >> word;)
    if (const auto sign = word.find('='); sign != std::string::npos)
      out[word.substr(0, sign)] = std::strtod(word.c_str() + sign + 1, nullptr);
  return out;
}

void read_heading(const std::string& line, Corpus& out) {
  std::istringstream words(line);
  std::string sharp, first;
  words >> sharp >> first;
  if (first == "values")
    out.values.push_back(read_values(words));
  else if (first == "seed")
    words >> out.seed;
  else
    out.module = first, words >> out.version >> out.sum;
}

}  // namespace

Corpus read_corpus(const std::string& path) {
  Corpus out;
  std::istringstream lines(unpacked(path));
  for (std::string line; std::getline(lines, line);) {
    if (line[0] == '#') {
      read_heading(line, out);
      continue;
    }
    const std::size_t blank = line.find(' ', 3);
    HOSTLER_ASSERT(blank != std::string::npos, "a line has three parts");
    out.cases.push_back({line[0] == 'b', static_cast<std::size_t>(line[1] - '0'),
                         line.substr(3, blank - 3), unescaped(line.substr(blank + 1))});
  }
  return out;
}

}  // namespace hostler::expression
