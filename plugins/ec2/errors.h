#pragma once

#include <cstdint>
#include <exception>
#include <hostler/driver.hpp>
#include <string>

namespace hostler::ec2 {

/// What Amazon has refused, in its own words.
class Refused : public std::exception {
 public:
  Refused(int status, std::string code, std::string text, std::string request_id);

  [[nodiscard]] int status() const noexcept { return status_; }  ///< Of HTTP.
  [[nodiscard]] const std::string& code() const noexcept { return code_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] const std::string& request_id() const noexcept { return request_id_; }
  const char* what() const noexcept override { return text_.c_str(); }
  /// Adds words for people to the text.
  void explain(const std::string& words) { text_ += words; }

  /// What hostler calls it, HOSTLER_E_*.
  [[nodiscard]] hostler_status meaning() const;
  /// The answer to a change is a fault of the server's: the change may have happened.
  [[nodiscard]] bool leaves_outcome_open() const;
  void was_change() { was_change_ = true; }
  /// Seconds for which Amazon wants no such request; 0: it did not say.
  [[nodiscard]] std::int64_t retry_after_s() const noexcept { return retry_after_s_; }
  void wants_pause(std::int64_t seconds) { retry_after_s_ = seconds; }
  /// Too many requests: nothing was done.
  [[nodiscard]] bool says_too_many() const { return meaning() == HOSTLER_E_RATE_LIMIT; }
  /// There is no such thing as the request names, or the name of it cannot be one.
  [[nodiscard]] bool says_missing() const;

 private:
  int status_;
  bool was_change_ = false;
  std::int64_t retry_after_s_ = 0;
  std::string code_, text_, request_id_;
};

/// What a request was about, for the scope of its error. What is empty has no name there.
struct Subject {
  std::string group, zone, subnet, image;
};

/// The error to report. `doing`: what was tried, "create i-1".
driver::Error refusal_error(const Refused& refused, const std::string& doing,
                            const Subject& subject = {});

}  // namespace hostler::ec2
