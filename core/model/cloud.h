#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/model/offering.h"

/// Requests to a cloud's driver and its answers: the driver ABI as values.
namespace hostler::model {

/// Classes of errors, one for each reaction; drivers return them as a status
/// (sdk/include/hostler/driver.h).
enum class CloudErrorClass : std::uint8_t {
  kInvalid,      ///< Do not retry; show the operator.
  kUnsupported,  ///< As kInvalid.
  kNotFound,
  kConflict,   ///< Same key, other arguments: a bug of the daemon.
  kAuth,       ///< Suspend the set, probe slowly.
  kRateLimit,  ///< Stop all calls in scope until retry_after.
  kQuota,      ///< Stop creating in scope until something is destroyed.
  kCapacity,   ///< Try another type or zone; remember it for a while.
  kTransient,  ///< Back off, retry with the same key.
  kTimeout,    ///< As kTransient.
  kCancelled,
  kKeyMismatch,    ///< Host-key extension only.
  kInternal,       ///< Driver bug: count, circuit breaker.
  kMisbehaving,    ///< The driver broke a rule of the ABI; the message names it.
  kBoot,           ///< Of gates only: new hosts do not come up. No driver returns it.
  kDriverCrashes,  ///< Of gates only: the driver died in such a call, twice in a row.
  kPrice,          ///< Of gates only: the cloud's price is doubted until an admin believes it.
};
inline constexpr int kCloudErrorClasses = static_cast<int>(CloudErrorClass::kPrice) + 1;
const char* to_string(CloudErrorClass cls);

/// The scope of an error, as bits; CloudError has a text for some of them.
namespace scope {
inline constexpr std::uint32_t kType = 0x01, kGroup = 0x02, kZone = 0x04, kRegion = 0x08,
                               kAccount = 0x10, kMarket = 0x20, kOperation = 0x40, kSubnet = 0x80,
                               kImage = 0x100;
}

/// A driver that is loaded for a set.
struct DriverFile {
  std::string name, version;  ///< The version is empty until the driver was loaded.
  std::string file;           ///< Tells files of the driver apart: an upgrade changes it.
  friend bool operator==(const DriverFile&, const DriverFile&) = default;
};

/// How a driver died in a call. All texts are fit to print.
struct DriverCrash {
  DriverFile driver;
  std::string call;    ///< The driver's function: "create", "set_open".
  std::string ending;  ///< "was ended by signal 11 (Segmentation fault)"
  std::string output;  ///< The last lines that it wrote; empty: none.
  friend bool operator==(const DriverCrash&, const DriverCrash&) = default;
};
/// One line for people: "driver local 1.0 was ended by signal 11 (Segmentation fault) in create".
std::string to_string(const DriverCrash& crash);

/// Why a driver refused a call: most of its members are those of the driver's error.
struct CloudError {
  CloudErrorClass cls = CloudErrorClass::kInternal;
  std::string message;  ///< One line for people, already fit to print.
  std::uint32_t scope = 0;
  std::string type, group, zone, subnet, region, image;  ///< Of the scope; empty: the request's.
  std::optional<Duration> retry_after;
  bool outcome_unknown = false;  ///< The side effect may have happened: list before going on.
  std::string provider_code, request_id;
  std::int64_t quota_limit = -1, quota_used = -1;
  std::optional<DriverCrash> crash;  ///< The driver died in this call.
  bool no_descriptors = false;       ///< No process of the driver: this one has no descriptor left.
};
template <class T>
using CloudResult = tl::expected<T, CloudError>;

enum class CloudOp : std::uint8_t {
  kOpen,
  kCreate,
  kList,
  kDestroy,
  kSetTags,
  kStart,
  kStop,
  kOther,  ///< price_history.
  kQuotaGroup,
  kConsole,
  kImages,
  kLeftovers,  ///< Their list.
  kDestroyLeftover,
  kOfferings,
  kWatch,  ///< For notices of interruptions.
};
const char* to_string(CloudOp op);

using Tags = std::map<std::string, std::string>;

enum class UserDataFormat : std::uint8_t { kNone, kSh, kMime };

/// Which of an instance's addresses is used.
enum class AddressChoice : std::uint8_t {
  kAny,  ///< The first that the driver gives.
  kPrivate,
  kPublic,
};

/// A complete create: its members are journalled, and sent again as they are after a lost answer.
struct CreateRequest {
  std::string idempotency_key;   ///< A UUID; also the tag hostler-key.
  std::string host_instance_id;  ///< "h-7"
  std::string owner;             ///< The store's id.
  std::uint64_t epoch = 0;
  InstanceType type;
  std::string region, zone, subnet;  ///< Empty: the driver's choice.
  Micros price_cap_per_hour;         ///< 0: none.
  Placement placement;               ///< Of pool and type; its subnets are empty: see `subnet`.
  std::string remote_user;           ///< Who will log in; empty: as the driver says.
  std::string name_hint;
  UserDataFormat user_data_format = UserDataFormat::kNone;
  std::string user_data;             ///< As secret as a credential.
  bool user_data_gzip = false;       ///< It is compressed.
  std::string ssh_host_key_private;  ///< Empty unless the set can place it before sshd starts.
  std::string ssh_host_key_public;
  std::vector<std::string> ssh_public_keys;
  Tags tags;
  friend bool operator==(const CreateRequest&, const CreateRequest&) = default;
};

struct ListRequest {
  Tags tag_filter;               ///< All must match exactly.
  std::vector<std::string> ids;  ///< Provider ids; empty: all.
};

struct DestroyRequest {
  std::string id;  ///< The cloud's.
  std::string expected_set_id;
  std::string idempotency_key;
};

struct SetTagsRequest {
  std::string id;
  Tags set = {};
};

/// A start or a stop.
struct PowerRequest {
  std::string id;  ///< The cloud's.
  std::string expected_set_id;
};

/// The cloud's view of an instance's state (driver ABI HOSTLER_STATE_*).
enum class CloudState : std::uint8_t {
  kUnknown,
  kRequested,  ///< An unfulfilled spot request.
  kPending,
  kRunning,
  kStopping,
  kStopped,
  kSuspended,
  kTerminating,
  kGone,  ///< May still be listed; counts as absent.
  kFailed,
};
const char* to_string(CloudState state);

/// What the cloud lacked for an instance whose create it had accepted.
struct Shortage {
  CloudErrorClass cls = CloudErrorClass::kCapacity;  ///< Or kQuota.
  std::uint32_t scope = 0;                           ///< As of an error.
  friend bool operator==(const Shortage&, const Shortage&) = default;
};

/// One instance as the cloud lists it: its members are those of the driver's record.
struct ListedInstance {
  std::string id;          ///< The cloud's; may change once: identity is the key.
  std::string request_id;  ///< A spot request's id, if it has become this instance.
  std::string idempotency_key, set_id, owner;
  std::string zone;
  std::string address;  ///< Best address to reach it by; empty while unknown.
  std::uint16_t ssh_port = 22;
  std::string remote_user;
  Market market = Market::kOnDemand;
  std::optional<Micros> price_per_hour;
  CloudState state = CloudState::kUnknown;
  std::string state_reason;          ///< The cloud's words. This and the next are fit to print.
  std::string state_error;           ///< Of which it died or cannot run; empty: none.
  std::optional<Shortage> shortage;  ///< The cause of state_error, if it is one.
  Wall created, interruption;
  std::string pool, type, idle;  ///< Of its tags.
  std::uint64_t epoch = 0;       ///< Likewise; 0: none, or no number.
  bool tags_unknown = false;
  friend bool operator==(const ListedInstance&, const ListedInstance&) = default;
};
/// What a list shows, in its order. Entries are shared: the next list can be compared with them.
using ListedInstances = std::vector<std::shared_ptr<const ListedInstance>>;
/// The same as a list.
[[nodiscard]] ListedInstances share(std::vector<ListedInstance> all);

/// Of an account's id and of a region, as drivers report them.
inline constexpr std::size_t kAccountBytesMax = 255;
/// What a driver says of a set that it has opened: its members are those of the answer.
struct SetInfo {
  std::string account_id, region, currency;  ///< Empty: not known.
  std::uint32_t max_concurrency = 1;
  Duration list_consistency{};  ///< Two lists without an instance are this far apart; 0: unknown.
  Duration list_interval_min{};
  /// Of a create; 0: the driver did not say.
  std::uint64_t user_data_max_bytes = 0;
  std::uint32_t tags_max = 0, tag_key_max = 0, tag_value_max = 0, name_max = 0;
  bool create_token_native = false, host_key_inject = false, user_data = true,
       user_data_gzip = false, user_data_mime = false, spot = false, stop = false;
  bool has_host_key_extension = false, has_price_history = false, has_power = false,
       has_console = false, has_leftovers = false;
};

struct PricePoint {
  Wall start;
  Micros per_hour;
  friend auto operator<=>(const PricePoint&, const PricePoint&) = default;
};

/// A price of one zone and market, reported by a cloud.
struct ZonePrice {
  std::string zone;  ///< Empty: every zone.
  Market market = Market::kOnDemand;
  PricePoint point;
};

/// The tags of every instance that hostler creates.
namespace tag {
inline constexpr const char *kSet = "hostler-set", *kOwner = "hostler-owner",
                            *kPool = "hostler-pool", *kEpoch = "hostler-epoch",
                            *kKey = "hostler-key", *kType = "hostler-type", *kIdle = "hostler-idle";
}

}  // namespace hostler::model
