#include "errors.h"

#include <array>
#include <chrono>
#include <utility>

#include "meanings.h"

namespace hostler::ec2 {
namespace {

constexpr int kForbidden = 403, kUnauthorized = 401, kTooMany = 429, kServerFault = 500;

/// Of a code that is not known.
hostler_status by_number(int status) {
  switch (status) {
    case kUnauthorized:
    case kForbidden:
      return HOSTLER_E_AUTH;
    case kTooMany:
      return HOSTLER_E_RATE_LIMIT;
    default:
      return HOSTLER_E_TRANSIENT;
  }
}

}  // namespace

Refused::Refused(int status, std::string code, std::string text, std::string request_id)
    : status_(status),
      code_(std::move(code)),
      text_(std::move(text)),
      request_id_(std::move(request_id)) {}

hostler_status Refused::meaning() const {
  const Meaning* const known = find_meaning(code_, text_);
  return known != nullptr ? known->status : by_number(status_);
}

bool Refused::leaves_outcome_open() const {
  return was_change_ && meaning() == HOSTLER_E_TRANSIENT && status_ >= kServerFault;
}

bool Refused::says_missing() const {
  const std::string_view code = code_;
  const auto ends_with = [&](std::string_view end) {
    return code.size() >= end.size() && code.substr(code.size() - end.size()) == end;
  };
  return ends_with(".NotFound") || ends_with(".Malformed");
}

driver::Error refusal_error(const Refused& refused, const std::string& doing,
                            const Subject& subject) {
  const Meaning* const known = find_meaning(refused.code(), refused.text());
  const std::string code = refused.code().empty() ? "" : refused.code() + ": ";
  driver::Error error(refused.meaning(), "EC2 cannot " + doing + ": " + code + refused.text());
  std::uint32_t scope = known != nullptr ? known->scope : 0;
  // Where EC2 has chosen among all zones, none of them has it.
  if (subject.zone.empty() && (scope & HOSTLER_SCOPE_TYPE) != 0) scope &= ~HOSTLER_SCOPE_ZONE;
  const std::array<std::pair<std::uint32_t, const std::string*>, 4> names{
      {{HOSTLER_SCOPE_GROUP, &subject.group},
       {HOSTLER_SCOPE_ZONE, &subject.zone},
       {HOSTLER_SCOPE_SUBNET, &subject.subnet},
       {HOSTLER_SCOPE_IMAGE, &subject.image}}};
  for (const auto& [bit, name] : names)
    if ((scope & bit) != 0) error.about(bit, *name);
  error.about(scope & ~std::uint32_t{HOSTLER_SCOPE_GROUP | HOSTLER_SCOPE_ZONE |
                                     HOSTLER_SCOPE_SUBNET | HOSTLER_SCOPE_IMAGE});
  if (refused.leaves_outcome_open()) error.outcome_unknown();
  if (refused.retry_after_s() > 0) error.retry_after(std::chrono::seconds(refused.retry_after_s()));
  error.provider(refused.code(), refused.request_id());
  return error;
}

}  // namespace hostler::ec2
