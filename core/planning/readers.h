#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "core/json/reader.h"
#include "core/planning/question.h"

/// The functions that read the parts of a snapshot, one source file for each part. Private to
/// core/planning.
namespace hostler::planning {

inline constexpr std::int64_t kCountMax = 10'000'000;             ///< Of items.
inline constexpr std::int64_t kMoneyMax = 1'000'000'000'000'000;  ///< A billion.
inline constexpr std::int64_t kBytesMax = std::int64_t{1} << 50;  ///< Of one resource.
inline constexpr std::int64_t kHostsMax = 1'000'000;              ///< Of a pool.
inline constexpr std::size_t kBoundsMax = 1000;                   ///< Of a pool.
inline constexpr std::size_t kReasonMax = 4096;                   ///< Bytes.
inline constexpr std::size_t kListMax = 100'000;                  ///< Hosts, offerings or classes.
/// Classes times offerings: a plan compares each with each.
inline constexpr std::size_t kPairsMax = 100'000'000;
inline constexpr double kRankMax = 1e300;
inline constexpr Duration kLongest = std::chrono::hours(24 * 3650);
/// The `now` of a snapshot that was read: its times are given as ages.
inline constexpr Mono kNow = Mono(2 * kLongest);

/// Names of one kind and their indices.
using Names = std::map<std::string, std::uint32_t, std::less<>>;

/// What has been read so far; later parts refer to earlier ones by name.
struct Draft {
  Question out;
  Names types, sets, pools, offerings;
  std::set<demand::ClassId> work;      ///< Waiting or gone: hosts may name it.
  std::set<std::uint32_t> slots_said;  ///< Types that say their slots.
};

// Each reader adds a problem to the field if its value is not allowed; the bool ones return false
// then.

/// The members of an object that are resources. `Gpus`: GpuWish of work, GpuGroups of hosts.
template <class Gpus>
void read_resources(json::Object& o, model::Resources& out, Gpus& gpus);
template <class Gpus>
bool read_resources(const json::Field& field, model::Resources& out, Gpus& gpus) {
  return field.object([&](json::Object& o) { read_resources(o, out, gpus); });
}
/// "12m": the time is so long before `now` of the snapshot.
bool read_age(const json::Field& field, Mono& out);
bool read_class(const json::Field& field, demand::ClassId& out);
/// A class that the snapshot's `work` or `work_gone` names.
bool read_known_class(const json::Field& field, const Draft& draft, demand::ClassId& out);
/// A name of `known`, which are of this kind: "pool".
bool read_reference(const json::Field& field, const Names& known, const char* kind,
                    std::uint32_t& out);

/// The last push for the pool, as far as plans go by it.
void read_push(const json::Field& field, const model::PoolPolicy& pool,
               std::optional<LastPush>& out);
/// Makes work and bounds of the pushes. Call it when all else but hosts has been read.
void take_pushes(const json::Field& pools, Draft& draft);
/// Reads what its outside scheduler says of the host. Call it when its phase, flags and times are
/// read.
void read_agent(json::Object& o, const model::PoolPolicy& pool, scheduler::HostView& out);
/// So many classes and offerings are not too many.
void check_pairs(const json::Field& field, const Draft& draft);
void read_bounds(const json::Field& field, std::vector<scheduler::Bound>& out);
void read_offerings(const json::Field& field, Draft& draft);
/// Call it after read_offerings(): a gate shuts those that it names.
void read_gates(const json::Field& field, Draft& draft);
void read_work(const json::Field& field, Draft& draft);
/// Call it after read_work(), because hosts refer to work.
void read_hosts(const json::Field& field, Draft& draft);

}  // namespace hostler::planning
