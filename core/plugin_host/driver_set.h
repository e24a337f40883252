#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/cloud.h"

namespace hostler::plugin_host {

/// What a set is opened with. The credentials are secret.
struct SetConfig {
  std::string set_id;  ///< The value of the tag hostler-set.
  std::string config_json = "{}";
  std::string credentials_json;
  model::Tags shared_tags = {};
};

struct HostKeyCheck {
  std::string id;        ///< The instance's, as the cloud knows it.
  std::string address;   ///< That was connected to.
  std::string key_algo;  ///< "ssh-ed25519"
  std::string key_blob;  ///< The public key in SSH wire form.
};

struct PriceQuery {
  model::InstanceType type;
  std::string zone;  ///< Empty: all zones.
  Wall since;
};

/// How a set does. See DriverSet::health().
struct SetHealth {
  std::uint64_t broken_rules = 0;  ///< Since it was made.
  std::string last_broken_rule;
  std::size_t hung_calls = 0;  ///< Given up on and not come back.
  bool suspended = false;      ///< Two calls hang: nothing is sent until one comes back.
};

/// One configured connection to one cloud account through one driver. The only way in which the
/// daemon talks to a cloud; a port, since the driver runs in this process or in one of its own.
///
/// Calls return at once. The outcome comes through `done`, exactly once, on a thread of the set:
/// callbacks of one set come one after another, in the order in which calls ended. A callback must
/// not block and must not destroy the set; it may make further calls.
///
/// Each call has a timeout, from now. At its end the call is cancelled; a driver that does not
/// return within the grace time is given up on: the call ends with outcome_unknown, what the driver
/// does later is ignored. Before open() has succeeded every other call is refused.
/// A rule of the ABI that the driver breaks in a call is an error of the class kMisbehaving that
/// names the rule.
///
/// Threads: any. Destruction cancels what is under way, waits for it (the grace time at most), runs
/// every callback still owed, and closes the driver's set; instances stay.
class DriverSet {
 public:
  template <class T>
  using Done = std::function<void(model::CloudResult<T>)>;
  struct Nothing {};

  DriverSet() = default;
  DriverSet(const DriverSet&) = delete;
  DriverSet& operator=(const DriverSet&) = delete;
  virtual ~DriverSet() = default;

  /// Checks the config and the credentials with the cloud. Once; again after it has failed.
  virtual void open(SetConfig config, Duration timeout, Done<model::SetInfo> done) = 0;
  virtual void info(Duration timeout, Done<model::SetInfo> done) = 0;

  /// `on_record` gets each record as it comes, the first as soon as the cloud has given an id: also
  /// of a create that fails or hangs afterwards. The result is the last of them.
  virtual void create(model::CreateRequest request, Duration timeout,
                      std::function<void(const model::ListedInstance&)> on_record,
                      Done<model::ListedInstance> done) = 0;
  /// Complete, or an error.
  virtual void list(model::ListRequest request, Duration timeout,
                    Done<std::vector<model::ListedInstance>> done) = 0;
  /// Success: accepted, or there is no such instance; only list() says that it is gone.
  virtual void destroy(model::DestroyRequest request, Duration timeout, Done<Nothing> done) = 0;
  virtual void set_tags(model::SetTagsRequest request, Duration timeout, Done<Nothing> done) = 0;

  // Extensions; kUnsupported without a call where the driver has none.
  /// Success: the cloud vouches for the key.
  virtual void verify_host_key(HostKeyCheck check, Duration timeout, Done<Nothing> done) = 0;
  virtual void price_history(PriceQuery query, Duration timeout,
                             Done<std::vector<model::ZonePrice>> done) = 0;
  /// The name of the quota group that a type belongs to; empty: none.
  virtual void quota_group(model::InstanceType type, Duration timeout, Done<std::string> done) = 0;
  virtual void start(model::PowerRequest request, Duration timeout, Done<Nothing> done) = 0;
  virtual void stop(model::PowerRequest request, Duration timeout, Done<Nothing> done) = 0;

  [[nodiscard]] virtual SetHealth health() const = 0;
};

}  // namespace hostler::plugin_host
