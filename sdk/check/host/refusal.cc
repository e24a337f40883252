#include "sdk/check/host/refusal.h"

#include <string>

namespace hostler::check {
namespace {

using model::CloudErrorClass;

/// Whether the check file says that the cloud has such a limit.
bool is_explained(const Settings& settings, CloudErrorClass cls) {
  return (cls == CloudErrorClass::kQuota && settings.quota > 0) ||
         (cls == CloudErrorClass::kRateLimit && settings.rate > 0);
}

/// In `hostler cloudtest`, whose settings are the site's.
const char* what_to_do_at_site(CloudErrorClass cls) {
  switch (cls) {
    case CloudErrorClass::kQuota:
      return "let --budget be what the account may have";
    case CloudErrorClass::kRateLimit:
      return "others use this account: try it later";
    case CloudErrorClass::kCapacity:
      return "choose a --type that the cloud has";
    default:
      return "set credentials for the set that may do this";
  }
}

const char* what_to_do(const Settings& settings, CloudErrorClass cls) {
  if (settings.site) return what_to_do_at_site(cls);
  switch (cls) {
    case CloudErrorClass::kQuota:
      return settings.quota > 0
                 ? "others use a part of `quota`, or it is too large"
                 : "set `quota` in the check file to the number of machines that the account may "
                   "have";
    case CloudErrorClass::kRateLimit:
      return settings.rate > 0
                 ? "others use a part of `rate`, or it is too large"
                 : "set `rate` in the check file to the number of calls that the cloud allows in a "
                   "second";
    case CloudErrorClass::kCapacity:
      return "set `type` and `zone` in the check file to what the cloud has";
    default:
      return "set `credentials` in the check file to some that may do this";
  }
}

}  // namespace

bool is_refusal(CloudErrorClass cls) {
  return cls == CloudErrorClass::kQuota || cls == CloudErrorClass::kCapacity ||
         cls == CloudErrorClass::kRateLimit || cls == CloudErrorClass::kAuth;
}

void report_refusal(Context& c, const char* call, const model::CloudError& error) {
  const std::string what = std::string("the cloud refused: ") + to_string(error.cls) + ": " +
                           error.message + "; " + what_to_do(c.settings, error.cls);
  if (is_explained(c.settings, error.cls))
    c.findings.skip_without_room(std::string(call) + ": " + what);
  else
    c.findings.fail("refused", call, what);
}

}  // namespace hostler::check
