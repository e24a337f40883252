#include <array>
#include <utility>

#include "core/base/units.h"
#include "core/config/readers.h"
#include "core/model/lease.h"

namespace hostler::config {
namespace {

constexpr std::array kLogins{
    json::Word<model::Login>{"none", model::Login::kNone},
    json::Word<model::Login>{"user", model::Login::kUser},
    json::Word<model::Login>{"root", model::Login::kRoot},
};

}  // namespace

void read_leases(const json::Field& field, std::optional<model::LeasePolicy>& out) {
  model::LeasePolicy policy;
  const bool read = field.object([&](json::Object& o) {
    o.may("max_term").duration(policy.max_term, model::kTermMin, model::kTermMax);
    o.may("login").word(policy.login, kLogins);
    const json::Field notice = o.may("notice_before");
    if (notice.duration(policy.notice_before, 0s, 24h) && policy.notice_before > policy.max_term)
      notice.problem("found " + exact_duration(policy.notice_before) +
                     ", which is above max_term " + exact_duration(policy.max_term) +
                     ": each lease would be told when it begins");
    o.may("grace").duration(policy.grace, 0s, 1h);
    o.may("clean_command").text(policy.clean_command, {.bytes_max = kCommandMax});
  });
  if (read) out = std::move(policy);
}

}  // namespace hostler::config
