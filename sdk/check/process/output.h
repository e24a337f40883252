#pragma once

#include <string>
#include <vector>

namespace hostler::check {

/// What a test wrote to stdout and stderr: the first MiB of it.
class Output {
 public:
  /// A piece of what there is. False: there is no more.
  bool read(int fd);
  /// All that is there now.
  void read_rest(int fd);
  [[nodiscard]] const std::string& text() const { return text_; }
  /// The last part of it, printable, without the secrets.
  [[nodiscard]] std::string end(const std::vector<std::string>& secrets) const;

 private:
  std::string text_;
};

}  // namespace hostler::check
