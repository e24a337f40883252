#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/base/time.h"
#include "core/model/cloud.h"
#include "core/model/records.h"

/// Gates: circuit breakers for calls to a cloud. A refused call shuts a gate for the scope of its
/// error. Further refusals while it is shut do not extend the time. After the time one call may
/// probe (half-open): the gate opens if it succeeds. Unlike in other circuit breakers, "open" means
/// that calls pass.
namespace hostler::gates {

/// The scope of a call that is about to be made.
struct GateQuery {
  std::string set;
  model::CloudOp op = model::CloudOp::kCreate;
  std::string type = {}, group = {}, zone = {}, subnet = {}, region = {};
  model::Market market = model::Market::kOnDemand;
  std::string pool = {}, image = {};  ///< Of creates, for boot gates.
  /// Of calls about an instance: it may probe a boot gate; the destroys of others are other calls.
  model::InstanceId instance = {};
};

/// When the cloud said the error.
enum class Told : std::uint8_t {
  kInAnswer,  ///< To the call.
  kLater,     ///< The call was taken, and its host has ended of it.
};

struct Gate {
  model::GateRecord record;
  Mono until;
  bool probing = false;                              ///< Half-open: one call is under way.
  model::CloudOp probe_op = model::CloudOp::kOther;  ///< Of that call, as probe_of.
  model::InstanceId probe_of = {};
  model::InstanceId prober = {};  ///< Of a boot gate that is probed: the host that may come up.
  [[nodiscard]] bool is_shut(Mono now) const { return until > now || probing; }
};

/// Whether the call is within the scope of the gate: it equals the gate in each dimension (type,
/// zone ...) that the gate is limited in. A gate that was shut by a call which left a dimension to
/// the driver also holds the calls that leave it: gate_scopes.cc states the rule. A set has one
/// region, so a call or a gate that names none is of that region.
[[nodiscard]] bool holds(const model::GateRecord& gate, const GateQuery& call);

/// Classes of errors that can shut a gate.
[[nodiscard]] std::vector<model::CloudErrorClass> gated_classes();

/// Whether the gate is of crashes, and whether it is shut or half-open, not only a note.
[[nodiscard]] bool is_of_crashes(const model::GateRecord& gate);
[[nodiscard]] bool holds_back_crashes(const model::GateRecord& gate);

class Gates {
 public:
  /// Shuts a gate if `error` is of a class that has gates: auth, rate limit, quota, capacity, five
  /// times internal; of a create also invalid, unsupported, conflict, not found. Returns the record
  /// for the journal if the gate is new or shut for longer. Any other error ends a probe: another
  /// call may probe after a pause. The refused call is always within the scope of the gate,
  /// whatever the driver said; a shortage of spot never shuts on_demand.
  std::optional<model::GateRecord> refuse(const GateQuery& call, const model::CloudError& error,
                                          Now now, Random& random);
  /// Shuts a gate as refuse() does, although no call has ended, so no probe is over. A gate that is
  /// shut by an error that was told later opens when the host that probes it comes up, and not when
  /// the cloud accepts its create.
  std::optional<model::GateRecord> close(const GateQuery& call, const model::CloudError& error,
                                         Now now, Random& random, Told told = Told::kInAnswer);
  /// The gate that forbids the call now, the one with the longest time; null: none.
  [[nodiscard]] const Gate* shut(const GateQuery& call, Mono now) const;
  /// The call is made: it probes the half-open gates that it passes, and no other call does.
  void passing(const GateQuery& call, Mono now);
  /// The call succeeded: the gates that it probed open, and the internal errors are forgotten.
  /// Returns the keys of gates that are in the journal.
  std::vector<std::string> succeeded(const GateQuery& call);
  /// Nobody needs the answer to the call any more: if it probes a gate, another call may probe
  /// after a pause.
  void abandoned(const GateQuery& call, Now now);
  /// An instance of the group was destroyed: the quota gates of the group open. Returns their keys.
  std::vector<std::string> destroyed(const std::string& set, const std::string& group);
  /// The daemon has started, perhaps with a corrected configuration: gates of creates that were
  /// refused as invalid open. Returns their keys.
  std::vector<std::string> restarted();
  /// An admin had the configuration read again, and may have raised a quota too: the quota gates
  /// and those of restarted() open. Returns their keys.
  std::vector<std::string> reloaded();
  /// The set has other credentials, settings or another version of its driver: its gates of class
  /// auth and internal, and those that reloaded() opens. Returns their keys.
  std::vector<std::string> driver_replaced(const std::string& set);
  /// An admin wants such calls to be tried now. Returns the gate that was opened; none: there is
  /// no such gate in the journal.
  std::optional<model::GateRecord> open(const std::string& key);

  // Boot gates (of class kBoot): calls neither shut nor open them, the ends of boots do. Whoever
  // asks with `instance` may pass the gate that this instance probes.

  /// The create of `boot.instance` is sent: it probes the half-open boot gates that hold it.
  void boot_sent(const GateQuery& boot, Mono now);
  /// A host did not come up. Shuts the gates that it probed, and those in `shut`, for longer each
  /// time. Returns the records for the journal.
  std::vector<model::GateRecord> boot_failed(const GateQuery& boot,
                                             std::vector<model::GateRecord> shut,
                                             const std::string& text, Now now, Random& random);
  /// A host came up: the boot gates that hold such hosts open, and of those that were shut by
  /// errors told later the ones that it probes. Returns their keys.
  std::vector<std::string> booted(const GateQuery& boot);
  /// The boot ended without telling anything: another create may probe after a pause.
  void boot_unknown(const GateQuery& boot, Now now);
  /// Adds to the messages of the boot gates that the failed boot of the host `id` has shut. Returns
  /// their records for the journal.
  std::vector<model::GateRecord> tell_of_boots(const std::string& id, const std::string& more);
  /// Removes the boot gates for which `which(record)` is true. Returns their keys.
  std::vector<std::string> open_boots(const std::function<bool(const model::GateRecord&)>& which);

  /// Removes the gates of doubted prices (of class kPrice) for which `which(record)` is true.
  /// close() shuts them; no call opens them. Returns their keys.
  std::vector<std::string> open_prices(const std::function<bool(const model::GateRecord&)>& which);

  // Gates of crashes (of class kDriverCrashes): one is shut when the driver died twice in a row in
  // the same call. The same call is of the same function of the set; of a create the same offering,
  // of a destroy the same instance. Records of one crash are among all() too, and hold nothing
  // back.

  /// The call is made now: it probes its gate, if that is half-open.
  void began(const GateQuery& call, Mono now);
  /// Such a call is never made again. Returns the key of its record; none: it has none.
  std::optional<std::string> forget_crashes(const GateQuery& call);
  /// The call has ended, and the driver lives. A success forgets the crashes: returns their record,
  /// which leaves the journal.
  std::optional<model::GateRecord> survived(const GateQuery& call, bool succeeded, Now now);
  /// The driver died in the call. Returns the record for the journal: its `until` is set if the
  /// gate is shut now. None: it was shut before.
  std::optional<model::GateRecord> crashed(const GateQuery& call, const model::DriverCrash& crash,
                                           Now now);
  /// Another file of the set's driver was loaded: the crashes of other files are forgotten. Returns
  /// their records.
  std::vector<model::GateRecord> driver_loaded(const std::string& set, const std::string& file);

  void restore(const model::GateRecord& record, Now now);
  [[nodiscard]] const std::map<std::string, Gate>& all() const { return gates_; }

 private:
  /// Removes the gates for which `which(record)` is true. Returns their keys.
  template <class Which>
  std::vector<std::string> open_all(const Which& which);

  std::map<std::string, Gate> gates_;
};

}  // namespace hostler::gates
