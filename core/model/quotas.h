#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/offering.h"

/// What one principal may have at the same time.
namespace hostler::model {

enum class Role : std::uint8_t {
  kRead,
  kSubmit,
  kAdmin,
  kScaler,  ///< Only scaling-info of the pools of its token, and /health.
};

/// Limits of one principal. Unset: no limit; 0: nothing is allowed.
struct Quota {
  std::optional<std::int64_t> jobs_waiting_max;
  std::optional<std::int64_t> shapes_waiting_max;      ///< Different shapes of waiting jobs.
  std::optional<std::int64_t> submits_per_minute_max;  ///< Requests, whatever their jobs.
  std::optional<std::int64_t> blob_bytes_max;
  std::optional<std::int64_t> output_bytes_max;  ///< Kept by the daemon, of all jobs.
  std::optional<std::int64_t> priority_max;
  /// Of work that starts or runs, together. Beyond these three, work waits.
  std::optional<Vcpus> running_vcpus_max;
  std::optional<std::int64_t> running_gpus_max;
  std::optional<Micros> running_price_per_hour_max;  ///< Each job with its share of its host.
  friend bool operator==(const Quota&, const Quota&) = default;

  /// These limits, and those of `other` where these are unset.
  [[nodiscard]] Quota or_else(const Quota& other) const {
    Quota out = *this;
    const auto fill = [](auto& mine, const auto& theirs) {
      if (!mine) mine = theirs;
    };
    fill(out.jobs_waiting_max, other.jobs_waiting_max);
    fill(out.shapes_waiting_max, other.shapes_waiting_max);
    fill(out.submits_per_minute_max, other.submits_per_minute_max);
    fill(out.blob_bytes_max, other.blob_bytes_max);
    fill(out.output_bytes_max, other.output_bytes_max);
    fill(out.priority_max, other.priority_max);
    fill(out.running_vcpus_max, other.running_vcpus_max);
    fill(out.running_gpus_max, other.running_gpus_max);
    fill(out.running_price_per_hour_max, other.running_price_per_hour_max);
    return out;
  }
};

/// The quotas of a site. By default there are none; core/config adds the defaults of the site.
struct Quotas {
  Quota admin, submit, read;                             ///< Of roles.
  std::map<std::string, Quota, std::less<>> principals;  ///< By "user ann", "token ci".
  /// Roles of the principals that are known; the daemon fills it in. All others have submit: users
  /// of the unix socket, and tokens that are gone and have left jobs.
  std::map<std::string, Role, std::less<>> roles;
  friend bool operator==(const Quotas&, const Quotas&) = default;

  [[nodiscard]] Role role_of(std::string_view principal) const {
    const auto found = roles.find(principal);
    return found == roles.end() ? Role::kSubmit : found->second;
  }
  [[nodiscard]] const Quota& of_role(Role role) const {
    return role == Role::kAdmin ? admin : role == Role::kSubmit ? submit : read;
  }
  /// The limits of a principal: each key of its own goes before that of its role.
  [[nodiscard]] Quota of(std::string_view principal) const {
    const Quota& role = of_role(role_of(principal));
    const auto own = principals.find(principal);
    return own == principals.end() ? role : own->second.or_else(role);
  }
};

}  // namespace hostler::model
