#include "lies.h"

#include <algorithm>
#include <fstream>
#include <hostler/driver.hpp>
#include <map>
#include <set>
#include <sstream>

namespace hostler::liar {
namespace {

// Topics that have no kinds take any second word.
const std::map<std::string, std::set<std::string>, std::less<>> kKinds = {
    {"list",
     {"empty", "half", "omit", "double", "late", "old", "foreign", "hang", "stopping", "stopped",
      "suspended", "failed", "own"}},
    {"ids", {"honest", "empty", "error", "gone"}},
    {"create", {"failed", "gone", "invalid-but-made", "wait", "bare", "capacity", "quota"}},
    {"destroy", {"ignored"}},
    {"tags", {"lost", "pool"}},
    {"key", {"unknown"}},
    {"info", {"hang"}},
    {"watch", {"auth"}},
    {"account", {}},
    {"region", {}},
    {"consistency", {}},
    {"user-data-max", {}},
    {"group", {}}};

bool is_lie(const Lie& lie) {
  if (lie.words.size() < 2) return false;
  const auto topic = kKinds.find(lie.topic());
  return topic != kKinds.end() &&
         (topic->second.empty() || topic->second.count(std::string(lie.kind())) != 0);
}

}  // namespace

bool Lie::has(std::string_view word) const {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string Lie::value(std::string_view key) const {
  for (const std::string& word : words)
    if (word.size() > key.size() && word[key.size()] == '=' &&
        std::string_view(word).substr(0, key.size()) == key)
      return word.substr(key.size() + 1);
  return {};
}

std::size_t Lie::number() const {
  std::size_t number = 0;
  if (words.size() > 2) std::istringstream(words[2]) >> number;
  return number;
}

Lies Lies::read(const std::string& path) {
  Lies out;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    Lie lie{line, {}};
    std::istringstream words(line);
    for (std::string word; words >> word;) lie.words.push_back(word);
    if (lie.words.empty()) continue;
    if (!is_lie(lie)) throw driver::Error(HOSTLER_E_INTERNAL, path + ": no such lie: " + line);
    out.lies_.push_back(std::move(lie));
  }
  return out;
}

const Lie* Lies::find(std::string_view topic, std::string_view kind) const {
  const auto found = std::find_if(lies_.begin(), lies_.end(), [&](const Lie& lie) {
    return lie.topic() == topic && (kind.empty() || lie.kind() == kind);
  });
  return found == lies_.end() ? nullptr : &*found;
}

}  // namespace hostler::liar
