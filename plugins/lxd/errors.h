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

// What it may say of an instance.
bool says_exists(const Refused& refused);           ///< One of this name is there.
bool says_missing(const Refused& refused);          ///< There is none.
bool says_missing_project(const Refused& refused);  ///< Nor the project in which it would be.
bool says_forbidden(const Refused& refused);        ///< This client may not ask.
bool says_busy(const Refused& refused);             ///< Another change is being made.
bool says_done(const Refused& refused);             ///< It is so already.

}  // namespace hostler::lxd
