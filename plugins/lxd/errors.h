#pragma once

#include <exception>
#include <hostler/driver.hpp>
#include <string>

namespace hostler::lxd {

/// What LXD has refused, in its own words. What that means depends on the call: refusal_error().
class Refused : public std::exception {
 public:
  Refused(int status, std::string text) : status_(status), text_(std::move(text)) {}
  [[nodiscard]] int status() const noexcept { return status_; }  ///< As of HTTP; 0: not said.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  int status_;
  std::string text_;
};

/// The error to report. `doing`: what was tried, "create c1". LXD has few error codes, so its texts
/// decide; a text that is not known is passed on as it is.
driver::Error refusal_error(const Refused& refused, const std::string& doing);

/// Whether it says that something is there already, is not there, or is in the midst of another
/// change.
bool says_exists(const Refused& refused);
bool says_missing(const Refused& refused);
bool says_busy(const Refused& refused);

}  // namespace hostler::lxd
