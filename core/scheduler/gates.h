#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/base/time.h"
#include "core/model/cloud.h"
#include "core/model/records.h"

/// Remembered refusals. Each error shuts one gate for exactly its scope; repeats do not extend it;
/// at its end one probe may pass (half-open).
namespace hostler::scheduler {

/// What a call is about to touch.
struct GateQuery {
  std::string set;
  model::CloudOp op = model::CloudOp::kCreate;
  std::string type = {}, group = {}, zone = {}, subnet = {}, region = {};
  model::Market market = model::Market::kOnDemand;
};

struct Gate {
  model::GateRecord record;
  Mono until;
  bool probing = false;  ///< Half-open: one call is under way to find out.
  [[nodiscard]] bool is_shut(Mono now) const { return until > now || probing; }
};

/// Whether the call is within the gate's scope.
[[nodiscard]] bool holds(const model::GateRecord& gate, const GateQuery& call);

/// Classes of errors that can shut a gate.
[[nodiscard]] std::vector<model::CloudErrorClass> gated_classes();

class Gates {
 public:
  /// Shuts a gate if `error` is of a class that has one (auth, rate limit, quota, capacity,
  /// internal x5; of a create also invalid, unsupported, conflict, not found). Returns its record
  /// if the gate is new or longer than it was, for the journal. Any other error ends a half-open
  /// probe: after a pause another call may try. The gate's scope never misses the call that was
  /// refused; a shortage of spot never shuts on_demand.
  std::optional<model::GateRecord> refuse(const GateQuery& call, const model::CloudError& error,
                                          Now now, Random& random);
  /// The gate that stands in the way of a call now; null: none.
  [[nodiscard]] const Gate* shut(const GateQuery& call, Mono now) const;
  /// A call passes a half-open gate: until its outcome no other does.
  void passing(const GateQuery& call, Mono now);
  /// A call succeeded: gates that it probed open, counts of internal errors end. Returns the keys
  /// of gates that were journalled.
  std::vector<std::string> succeeded(const GateQuery& call);
  /// Something of that group was destroyed: its quota gates open. Returns the keys.
  std::vector<std::string> destroyed(const std::string& set, const std::string& group);
  /// They may be right now: gates of creates that were refused for what they asked open. Returns
  /// the keys.
  std::vector<std::string> settings_changed();
  void restore(const model::GateRecord& record, Now now);
  [[nodiscard]] const std::map<std::string, Gate>& all() const { return gates_; }

 private:
  std::map<std::string, Gate> gates_;
};

}  // namespace hostler::scheduler
