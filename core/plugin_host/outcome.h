#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/cloud.h"
#include "hostler/driver.h"

namespace hostler::plugin_host {

inline model::CloudError cloud_error(model::CloudErrorClass cls, std::string message,
                                     bool outcome_unknown = false) {
  model::CloudError error;
  error.cls = cls;
  error.message = std::move(message);
  error.outcome_unknown = outcome_unknown;
  return error;
}

/// Why a call that needs ABI 1.`needed` is not sent to a driver of ABI 1.`minor`; nothing: it may
/// be.
std::optional<model::CloudError> refusal_by_minor(const char* function, std::uint32_t needed,
                                                  std::uint32_t minor);

/// How one operation ended, as the driver and the host reported it, and the error that follows.
///
/// Threads: any, but the object has no lock: its owner guards it.
class Outcome {
 public:
  /// The status that the driver returned or passed to complete().
  void set_status(hostler_status status) { status_ = status; }
  /// A text of hostler_error. Unknown fields are ignored (R9), long texts are cut.
  void set_text(std::uint32_t field, const char* text, std::size_t size);
  /// A rule that the driver broke, "R28: ...". Only the first one counts; empty = none.
  void set_broken_rule(std::string rule);
  /// The host ended the operation for this reason. Nothing that the driver did counts any more, and
  /// what it does later is not noted: failure() may run meanwhile.
  void set_ended_by_host(model::CloudError reason);

  [[nodiscard]] hostler_status status() const { return status_; }
  /// By HOSTLER_TEXT_*, or empty.
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }
  /// Whether the driver reported success and broke no rule.
  [[nodiscard]] bool is_success() const;

  /// What the other parts of the operation know.
  struct Context {
    bool changes_cloud = false;  ///< After a failure the cloud may have changed.
    bool incomplete = false;     ///< The driver was told to stop before it was done.
    bool time_is_up = false;     ///< It was cancelled because its deadline passed.
  };
  /// The error that the caller gets; nothing after a success. Once.
  std::optional<model::CloudError> failure(const hostler_error& error, const Context& context);
  /// The rule that was broken; empty = none. All of them are known after failure().
  [[nodiscard]] const std::string& broken_rule() const { return broken_rule_; }

 private:
  model::CloudError error_of_driver(const hostler_error& error, const Context& context);

  hostler_status status_ = HOSTLER_PENDING;
  std::string broken_rule_;
  // Only failures use these, and every call pays for the size of this object: hence on the heap.
  std::vector<std::string> texts_;  ///< By HOSTLER_TEXT_*, or empty.
  std::unique_ptr<model::CloudError> ended_by_host_;
};

}  // namespace hostler::plugin_host
