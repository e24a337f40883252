#pragma once

#include <hostler/driver.h>

#include <cstdint>
#include <hostler/driver.hpp>
#include <mutex>
#include <string>
#include <vector>

namespace hostler::local {

/// Test dials: faults that the config requests, for tests of the daemon. The counts start again
/// with each set_open.
struct Dials {
  struct Failure {
    std::int64_t count = 0;  ///< Number of calls that fail, from the first on.
    std::string type;        ///< Only creates of this provider type; empty: all.
    hostler_status status = HOSTLER_E_TRANSIENT;
    std::uint32_t scope = 0;
    std::int64_t retry_after_ms = -1;
    bool outcome_unknown = false;
    std::string message;
  };
  std::vector<Failure> create_errors, list_errors, destroy_errors;
  std::int64_t create_reply_lost = 0;  ///< Number of creates that succeed but return an error.
  std::int64_t create_delay_ms = 0, list_delay_ms = 0, destroy_delay_ms = 0;
  enum class KeyChange { kNever, kBeforeSshd, kAfterSshd } key_change = KeyChange::kNever;
  std::int64_t key_change_after_ms = 0;  ///< With kAfterSshd: time after sshd answers.
  std::int64_t sshd_delay_ms = 0;        ///< -1: sshd never starts.
  /// Which of them tell of the notices in the file `interruptions` of `root`.
  enum class Interruptions { kNone, kWatch, kList, kBoth } interruptions = Interruptions::kNone;
};

/// Applies the dials and counts down. [any-thread]
class DialBoard {
 public:
  explicit DialBoard(Dials dials) : dials_(std::move(dials)) {}
  const Dials& dials() const { return dials_; }

  // Each throws the error that the dials request for this call.
  void on_create(const std::string& type) { fail_if_due(dials_.create_errors, type); }
  void on_list() { fail_if_due(dials_.list_errors, {}); }
  void on_destroy() { fail_if_due(dials_.destroy_errors, {}); }
  /// Throws TRANSIENT, outcome unknown, if the answer of this create is to be lost.
  void on_created();

 private:
  void fail_if_due(std::vector<Dials::Failure>& failures, const std::string& type);

  std::mutex mutex_;
  Dials dials_;
};

}  // namespace hostler::local
