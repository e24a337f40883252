#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hostler::liar {

/// One line of the file `lies`: `list late 3`, `create capacity subnet=a times=2`.
struct Lie {
  std::string line;
  std::vector<std::string> words;

  std::string_view topic() const { return words[0]; }
  std::string_view kind() const { return words[1]; }
  bool has(std::string_view word) const;
  /// The value of the word `key=value`; empty if there is none.
  std::string value(std::string_view key) const;
  /// The third word, at least 0.
  std::size_t number() const;
};

/// What the cloud lies about now; README.md lists the lies.
class Lies {
 public:
  /// A file that is absent tells no lie. Throws driver::Error for a line that is no lie.
  static Lies read(const std::string& path);

  const std::vector<Lie>& all() const { return lies_; }
  /// The first lie of this topic, and of this kind unless that is empty; nullptr if there is none.
  const Lie* find(std::string_view topic, std::string_view kind = {}) const;

 private:
  std::vector<Lie> lies_;
};

}  // namespace hostler::liar
