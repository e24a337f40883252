#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/cloud_records.h"

namespace hostler::plugin_host {

/// The configuration of a set. The credentials are secret.
struct SetConfig {
  std::string set_id;  ///< The value of the tag hostler-set.
  std::string config_json = "{}";
  std::string credentials_json;
  model::Tags shared_tags = {};
  model::AddressChoice address = model::AddressChoice::kAny;  ///< The host's: not sent.
};

/// A question to the cloud: does this instance have this SSH host key?
struct HostKeyCheck {
  std::string id;        ///< The cloud's id of the instance.
  std::string key_algo;  ///< "ssh-ed25519"
  std::string key_blob;  ///< The public key in SSH wire form.
};

struct PriceQuery {
  model::InstanceType type;
  Wall since;
};

/// Problems of a set's driver.
struct SetHealth {
  std::uint64_t broken_rules = 0;  ///< Since the set was created.
  std::string last_broken_rule;
  std::size_t hung_calls = 0;  ///< Calls that were abandoned and have not returned.
  bool suspended = false;      ///< Two calls hang: no call is sent until one returns.
  std::string state;           ///< "open", "suspended: two calls hang in list" and so on.
  std::string driver_version;  ///< Empty: not loaded yet.
  std::string opening;  ///< "set_open has run for 23 s", if the set is opened for long; or empty.
  // Of a driver in a process of its own; else empty.
  std::string sandbox;       ///< "full", "files", "none": what is in force.
  std::string memory_limit;  ///< "cgroup", "process", "none": as above.
  std::string cpu_limit;     ///< "cgroup", "nice", "none": as above.
  std::string last_crash;    ///< How its process ended last without being told to.
  std::uint64_t crashes = 0;
};

/// One configured connection to one cloud account through one driver; the daemon's only way to talk
/// to a cloud. An interface, since a driver runs in this process or in a process of its own.
///
/// Calls return at once. The result comes through `done`, exactly once, on the set's completion
/// thread: callbacks of one set run one after another, in the order in which their calls ended. A
/// callback must not block and must not destroy the set; it may make further calls.
///
/// Each call has a timeout, which starts now. When it has passed, the call is cancelled. If the
/// driver does not return within a grace time after that, the call is abandoned: it ends with
/// outcome_unknown, and later results of the driver are ignored. Before open() has succeeded, all
/// other calls are refused. If the driver breaks a rule of the ABI in a call, the call ends with an
/// error of the class kMisbehaving that names the rule.
///
/// Threads: any. Destruction cancels the unfinished calls, waits for them (the grace time at most),
/// runs the remaining callbacks, and closes the driver's set; instances are left as they are.
class DriverSet {
 public:
  template <class T>
  using Done = std::function<void(model::CloudResult<T>)>;
  struct Nothing {};

  DriverSet() = default;
  DriverSet(const DriverSet&) = delete;
  DriverSet& operator=(const DriverSet&) = delete;
  virtual ~DriverSet() = default;

  /// Checks the config and the credentials with the cloud. After a success it only asks for the
  /// info again.
  virtual void open(SetConfig config, Duration timeout, Done<model::SetInfo> done) = 0;
  virtual void info(Duration timeout, Done<model::SetInfo> done) = 0;

  /// `on_record` gets each record when the driver emits it: the first one as soon as the cloud has
  /// given an id, also if the create fails or hangs afterwards. The result is the last record.
  virtual void create(model::CreateRequest request, Duration timeout,
                      std::function<void(const model::ListedInstance&)> on_record,
                      Done<model::ListedInstance> done) = 0;
  /// All instances that match, or an error; never only some.
  virtual void list(model::ListRequest request, Duration timeout,
                    Done<std::vector<model::ListedInstance>> done) = 0;
  /// Success: the cloud has accepted the request, or has no such instance. Only list() shows that
  /// an instance is gone.
  virtual void destroy(model::DestroyRequest request, Duration timeout, Done<Nothing> done) = 0;
  virtual void set_tags(model::SetTagsRequest request, Duration timeout, Done<Nothing> done) = 0;

  // Extensions. If the driver lacks one, the call ends with kUnsupported and is not sent.
  /// Success: the cloud confirms the key.
  virtual void verify_host_key(HostKeyCheck check, Duration timeout, Done<Nothing> done) = 0;
  virtual void price_history(PriceQuery query, Duration timeout,
                             Done<std::vector<model::ZonePrice>> done) = 0;
  /// The name of the type's quota group; empty: none.
  virtual void quota_group(model::InstanceType type, Duration timeout, Done<std::string> done) = 0;
  virtual void start(model::PowerRequest request, Duration timeout, Done<Nothing> done) = 0;
  virtual void stop(model::PowerRequest request, Duration timeout, Done<Nothing> done) = 0;

  // Draft extensions. sdk/surface.md says which of them have callers.
  virtual void offerings(model::OfferingsQuery query, Duration timeout,
                         Done<std::vector<model::CloudOffering>> done) = 0;
  /// `on_notice` gets each notice when it comes, until the timeout: then it ends with success.
  virtual void watch_interruptions(Duration timeout,
                                   std::function<void(const model::Interruption&)> on_notice,
                                   Done<Nothing> done) = 0;
  virtual void read_console(model::ConsoleQuery query, Duration timeout,
                            Done<model::ConsoleText> done) = 0;
  virtual void list_leftovers(model::Tags tag_filter, Duration timeout,
                              Done<std::vector<model::Leftover>> done) = 0;
  virtual void destroy_leftover(model::LeftoverDestroyRequest request, Duration timeout,
                                Done<Nothing> done) = 0;
  virtual void find_images(model::ImageQuery query, Duration timeout,
                           Done<std::vector<model::Image>> done) = 0;

  [[nodiscard]] virtual SetHealth health() const = 0;
};

}  // namespace hostler::plugin_host
