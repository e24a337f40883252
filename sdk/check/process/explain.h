#pragma once

#include <string>
#include <vector>

#include "core/base/time.h"
#include "sdk/check/run/findings.h"

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

// What the process of a test could not say itself.
/// How it has ended; nothing if the test was finished. `status`: as waitpid() says it.
void explain_end(int status, Findings& findings);
/// It was ended after so long.
void explain_timeout(Duration time, Findings& findings);
/// It wrote this. A runtime that ends the process says so.
void judge_output(const Output& output, const std::vector<std::string>& secrets,
                  Findings& findings);

}  // namespace hostler::check
