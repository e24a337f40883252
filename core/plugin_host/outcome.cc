#include "core/plugin_host/outcome.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/plugin_host/abi_values.h"

namespace hostler::plugin_host {
namespace {

using model::CloudErrorClass;

constexpr std::size_t kErrorTexts = HOSTLER_TEXT_SCOPE_IMAGE + 1;
constexpr std::size_t kErrorTextMax = 4096;  // hostler/driver.h promises this limit

}  // namespace

std::optional<model::CloudError> refusal_by_minor(const char* function, std::uint32_t needed,
                                                  std::uint32_t minor) {
  if (needed <= minor) return std::nullopt;
  return cloud_error(CloudErrorClass::kUnsupported,
                     std::string(function) + ": the driver was built for ABI 1." +
                         std::to_string(minor) + ", this needs 1." + std::to_string(needed) +
                         ": upgrade the driver");
}

void Outcome::set_text(std::uint32_t field, const char* text, std::size_t size) {
  if (ended_by_host_ || field == 0 || field >= kErrorTexts || text == nullptr) return;
  texts_.resize(kErrorTexts);
  texts_[field] = printable({text, std::min(size, kErrorTextMax)}, kErrorTextMax);
}

void Outcome::set_broken_rule(std::string rule) {
  if (!ended_by_host_ && broken_rule_.empty()) broken_rule_ = std::move(rule);
}

void Outcome::set_ended_by_host(model::CloudError reason) {
  ended_by_host_ = std::make_unique<model::CloudError>(std::move(reason));
}

bool Outcome::is_success() const {
  return !ended_by_host_ && broken_rule_.empty() && status_ == HOSTLER_OK;
}

std::optional<model::CloudError> Outcome::failure(const hostler_error& error,
                                                  const Context& context) {
  if (ended_by_host_) {
    broken_rule_.clear();
    return std::move(*ended_by_host_);
  }
  if (status_ > HOSTLER_OK) set_broken_rule("R26: ended with " + status_name(status_));
  if (!broken_rule_.empty()) {
    return cloud_error(CloudErrorClass::kMisbehaving, broken_rule_, context.changes_cloud);
  }
  if (status_ < 0) return error_of_driver(error, context);
  if (!context.incomplete) return std::nullopt;
  return cloud_error(context.time_is_up ? CloudErrorClass::kTimeout : CloudErrorClass::kCancelled,
                     "cancelled before it was complete", context.changes_cloud);
}

model::CloudError Outcome::error_of_driver(const hostler_error& error, const Context& context) {
  texts_.resize(kErrorTexts);
  auto out = read_error(error, status_, texts_);
  if (out.message.empty()) {
    out.message = "R22: " + status_name(status_) + " without a message";
    broken_rule_ = out.message;
  }
  if (out.cls == CloudErrorClass::kCancelled && context.time_is_up) {
    out.cls = CloudErrorClass::kTimeout;
    out.message += " (its deadline has passed)";
  }
  return out;
}

}  // namespace hostler::plugin_host
