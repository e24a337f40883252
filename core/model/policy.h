#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/shared.h"
#include "core/base/time.h"
#include "core/model/cloud.h"
#include "core/model/instance.h"
#include "core/model/lease_account.h"
#include "core/model/metric.h"
#include "core/model/offered.h"
#include "core/model/offering.h"
#include "core/model/push.h"
#include "core/model/quotas.h"
#include "core/model/scaling.h"

/// The policies of the site: core/config reads and validates them, the pure layers use them. Names
/// resolve, min <= max, durations are positive.
namespace hostler::model {

using namespace std::chrono_literals;

/// Ceilings that the governor enforces; 0: none.
struct Ceilings {
  std::int32_t instances_max = 0;
  Micros price_per_hour_max;
  std::int32_t creates_per_minute_max = 0;
  std::int32_t destroys_per_decision_max = 0;
  friend bool operator==(const Ceilings&, const Ceilings&) = default;
};

struct BrokenCheck {
  std::string name;
  std::string command;  ///< sh; exit status 0 is healthy.
  Duration interval = 1min;
  friend bool operator==(const BrokenCheck&, const BrokenCheck&) = default;
};

/// A command on the host that tells whether its cloud takes it back.
struct InterruptionCheck {
  std::string command;  ///< sh; prints nothing without a notice. Empty: there is no check.
  Duration interval = 5s;
  friend bool operator==(const InterruptionCheck&, const InterruptionCheck&) = default;
};

/// A file that a new host gets at its first boot.
struct BootFile {
  std::string path;     ///< Absolute, of parts that are not "." or "..".
  std::string content;  ///< Any bytes.
  std::uint32_t mode = 0644;
  std::string owner;  ///< "user" or "user:group"; empty: root.
  friend bool operator==(const BootFile&, const BootFile&) = default;
};

/// What is done about things with our tags that outlived their instance.
enum class LeftoverRule : std::uint8_t { kOff, kReport, kDestroy };
const char* to_string(LeftoverRule rule);

/// One configured connection to one cloud account or region: a member for each key of the
/// configuration.
struct SetPolicy {
  std::string name;
  Ceilings ceilings;
  Tags tags;  ///< Put on every instance, besides those of hostler.
  std::string region;
  std::string remote_user;  ///< Empty: the driver's.
  AddressChoice address = AddressChoice::kAny;
  std::string jump_host;  ///< "bastion.example:22": its hosts are reached through it; or empty.
  std::optional<ImageQuery> image;  ///< Of types that say nothing of an image.
  Duration list_interval = 10s, price_interval = 10min, images_interval = 5min,
           offerings_interval = 1h, leftovers_interval = 10min, leftovers_after = 30min;
  std::vector<FilePrice> file_prices;  ///< By provider type, market and zone.
  Micros volume_price;                 ///< Of a GiB of `added_scratch`.
  /// A mistake of the cloud about what is left must not cost data unless the site says so.
  LeftoverRule leftovers = LeftoverRule::kReport;
  /// When half of the connected hosts become unreachable at once, none is ended for this time.
  Duration mass_unreachable_hold = 6h;
  Duration create_timeout = 2min, destroy_timeout = 1min, list_timeout = 1min, power_timeout = 2min;
  friend bool operator==(const SetPolicy&, const SetPolicy&) = default;
};

/// The evidence by which a host counts as ready. Only hosts with kAgent run jobs; the others are
/// lent.
enum class Readiness : std::uint8_t {
  kAgent,     ///< The agent on the host answers.
  kSsh,       ///< The host's key was proved over SSH.
  kCloud,     ///< The cloud lists the instance as running.
  kReported,  ///< An outside party reports it.
};
const char* to_string(Readiness kind);
/// The daemon connects to such hosts and proves them. To others it sends nothing.
inline bool needs_link(Readiness kind) {
  return kind == Readiness::kAgent || kind == Readiness::kSsh;
}

/// What becomes of a new host whose init command failed.
enum class InitFailure : std::uint8_t { kFail, kWarn };

/// How a new host gets its init command.
enum class InitDelivery : std::uint8_t {
  kAuto,      ///< By user data if the set takes that much, otherwise as kSsh.
  kUserData,  ///< The host runs it at boot.
  kSsh,       ///< Over the first proved connection.
};

/// How a pool lends its hosts: `pools[].leases`.
struct LeasePolicy {
  Duration max_term = 24h;
  std::string clean_command;  ///< sh, on a used host, so that it may be used again; empty: it ends.
  Login login = Login::kNone;      ///< Whoever asks with keys gets an account; else with none.
  Duration notice_before = 10min;  ///< With a login, the holder is told of the end this early.
  Duration grace = 30s;  ///< After the term, before the processes of the account are ended.
  friend bool operator==(const LeasePolicy&, const LeasePolicy&) = default;
};

/// How many hosts the configuration wants in a pool.
struct PoolSizes {
  std::int32_t min = 0, max = 100;  ///< Hosts that are on.
  std::int32_t standby = 0;         ///< Idle hosts to keep.
  std::int32_t stopped = 0;         ///< Hosts to keep switched off; they do not count for max.
  /// Hosts that are on or switched off. Unset, and no text: `stopped` says what is switched off.
  std::optional<std::int32_t> created_min = {}, created_max = {};
  BoundTexts texts = {};  ///< A text wins over the number of the same bound.
  friend bool operator==(const PoolSizes&, const PoolSizes&) = default;
};

/// A policy over one or more sets and their types: a member for each key of the configuration.
struct PoolPolicy {
  std::string name;
  std::vector<std::string> sets;
  std::vector<std::string> types;
  std::optional<TypeSelector> selector;  ///< Adds types that its sets offer; `types` is empty then.
  PoolSizes sizes;                       ///< Plans know it as the bounds of the source `config`.
  ScalingPolicy scaling;
  Ceilings ceilings;
  Duration idle_timeout = 1min, boot_timeout = 10min, probe_timeout = 10min,
           shutdown_timeout = 10s;    ///< The last: between two destroys.
  double price_factor_max = 2.0;      ///< Most price of a type, as a multiple of the cheapest fit.
  Micros price_cap_per_hour;          ///< 0: none.
  Duration spot_patience = 10min;     ///< After it work that allows both falls back to on_demand.
  Duration spot_shortage_patience{};  ///< The same while gates hold back all spot that fits.
  Duration starvation_after = 10min;
  Readiness readiness = Readiness::kAgent;
  std::optional<LeasePolicy> leases;   ///< Unset: it lends none.
  std::optional<PushedPolicy> pushed;  ///< Set: an outside scheduler says what it needs.
  std::vector<VerifyMethod> verify{VerifyMethod::kDelivered, VerifyMethod::kChallenge};
  bool rotate_keys = true;
  Placement placement;              ///< What it says wins over the type's.
  std::string image_id;             ///< Empty: the type's.
  std::optional<ImageQuery> image;  ///< In place of what the type says of an image.
  /// By the name of the type: its provider_params with the pool's in place of those of the same
  /// name. Only if the pool has some.
  std::map<std::string, std::string> provider_params;
  /// For cloud-init, beside hostler's own script; empty: none. Shared, as each host's link has a
  /// copy of the policy.
  Shared<std::string> cloud_config;
  Shared<std::vector<BootFile>> boot_files;  ///< They are there before the init command runs.
  std::string init_command;                  ///< sh, run at boot after hostler's own.
  InitFailure init_failure = InitFailure::kFail;
  InitDelivery init_delivery = InitDelivery::kAuto;
  std::string boot_probe = "true";  ///< sh; exit status 0 means booted.
  std::vector<BrokenCheck> broken_checks;
  std::string gpu_command;  ///< sh; prints the cards of a host. Empty: tools of makers do.
  InterruptionCheck interruption_check;
  std::string interruption_command;  ///< sh; beside each job that has none. Empty: none.
  /// A host gets no new work, and its work is replaced, this long before its interruption.
  Duration interruption_lead = 10min;
  /// Restartable jobs are ended this long before their host is interrupted; 0: they are not ended.
  Duration interruption_margin = 5s;
  std::int32_t attempts_parallel_max = 0;  ///< Per host; 0: only resources bound it.
  std::int32_t uses_max = 0;      ///< Attempts and leases of one host in its life; 0: no limit.
  bool no_new_privs = true;       ///< Of jobs: programs with setuid or capabilities give them none.
  bool drop_capabilities = true;  ///< Of jobs, where the agent is root: the bounding set is empty.
  friend bool operator==(const PoolPolicy&, const PoolPolicy&) = default;
};

/// New hosts of the pool run something of the site's at their first boot, by hostler's script.
inline bool runs_at_boot(const PoolPolicy& pool) {
  return !pool.init_command.empty() || !pool.boot_files->empty();
}

/// What the scratch disk costs that is asked for with each create of the type.
inline Micros volume_price(const SetPolicy& set, const InstanceType& type) {
  constexpr double kGiB = std::int64_t{1} << 30;
  const double gib = static_cast<double>(type.added_scratch) / kGiB;
  return {static_cast<std::int64_t>(std::ceil(gib * static_cast<double>(set.volume_price.value)))};
}

/// ", all behind jump host bastion.example:22"; empty: the hosts of the set are reached directly.
inline std::string behind_jump_host(const SetPolicy& set) {
  return set.jump_host.empty() ? "" : ", all behind jump host " + set.jump_host;
}

/// No host runs more jobs at the same time: jobs may need nothing of it.
inline constexpr std::int32_t kJobsOnHostMax = 4'000;
/// How many jobs a host of the type runs at the same time in the pool, at least 1.
inline std::int32_t jobs_max_of(const PoolPolicy& pool, const InstanceType& type) {
  std::int32_t most = kJobsOnHostMax;
  if (pool.attempts_parallel_max > 0) most = std::min(most, pool.attempts_parallel_max);
  if (pool.uses_max > 0) most = std::min(most, pool.uses_max);
  if (type.jobs_max > 0) most = std::min(most, type.jobs_max);
  return most;
}

inline const std::string& image_of(const PoolPolicy& pool, const InstanceType& type) {
  return pool.image_id.empty() ? type.image_id : pool.image_id;
}

/// The query for the image of this pool's creates of the type in the set; unset: the type's
/// `image_id`, or the driver's choice.
inline const std::optional<ImageQuery>& image_query_of(const PoolPolicy& pool,
                                                       const InstanceType& type,
                                                       const SetPolicy& set) {
  if (pool.image || !pool.image_id.empty()) return pool.image;
  return type.image || !type.image_id.empty() ? type.image : set.image;
}

struct SitePolicy {
  std::vector<InstanceType> types;
  std::vector<SetPolicy> sets;
  std::vector<PoolPolicy> pools;
  std::vector<MetricPolicy> metrics;
  Ceilings ceilings;
  Quotas quotas;
  Duration plan_interval = 100ms;
  Duration abandoned_for = 24h;
  Duration half_life = 24h * 7;  ///< Of the use that fair shares go by.
  std::string currency;          ///< Of all prices; empty: that of the clouds, whichever it is.
  std::map<std::string, double> exchange_rates;  ///< What one of a currency is in the site's.
  /// Of types that sets offer, by the type's name and the zone. Types of the configuration have one
  /// price for all zones.
  std::map<std::pair<std::string, std::string>, Micros> zone_prices;
  friend bool operator==(const SitePolicy&, const SitePolicy&) = default;
};

}  // namespace hostler::model
