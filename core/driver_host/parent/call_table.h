#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/driver_host/parent/supervisor.h"
#include "core/plugin_host/call_queue.h"
#include "core/plugin_host/operation.h"

namespace hostler::driver_host {

/// The calls of one set that are not over: those that wait for a slot, and those in a process. Each
/// has a deadline; then it is cancelled, and if it does not end it hangs, and is abandoned at last.
///
/// Threads: any, but the object has no lock: its owner guards it.
class CallTable {
 public:
  using Id = std::uint64_t;
  using Op = std::shared_ptr<plugin_host::Operation>;

  struct Times {
    Duration hang{};   ///< From the cancel of a call until it counts as one that hangs.
    Duration grace{};  ///< From its cancel until it is abandoned.
  };

  explicit CallTable(const Times& times) : times_(times), queue_(1) {}

  /// Adds a call that waits; its deadline is set.
  void add(Op op);
  /// The next call that may be sent: it has a slot from now on, and is in `child`.
  Op next(ChildId child);
  /// Adds a call that waits apart from the others and needs no slot: one that opens the set.
  void add_apart(Op op);
  /// It may be sent, and is in `child` from now on.
  void send_apart(const plugin_host::Operation& op, ChildId child);
  void set_slots(std::size_t slots) { queue_.set_slots(slots); }

  [[nodiscard]] Id id_of(const plugin_host::Operation& op) const;
  [[nodiscard]] std::optional<ChildId> child_of(const plugin_host::Operation& op) const;
  /// The call of this number, if it is in `child`. Null: it is over, or never was.
  [[nodiscard]] Op find(Id id, ChildId child) const;
  /// The driver's function has returned: its slot is free. False if it had none.
  bool free_slot(Id id);
  /// All slots of the calls in `child`, which hang.
  void free_slots_of(ChildId child);
  /// The call is over. Its op.
  Op remove(const plugin_host::Operation& op);
  /// All calls that wait.
  [[nodiscard]] std::vector<Op> waiting() const;
  [[nodiscard]] std::size_t count_waiting() const { return queue_.size(); }
  [[nodiscard]] std::vector<Op> in(ChildId child) const;
  [[nodiscard]] bool has_calls(ChildId child) const { return in_child_.contains(child); }
  /// "list, create": the functions of calls that hang in any process.
  [[nodiscard]] std::string hanging() const;
  [[nodiscard]] std::size_t count_hanging() const;
  [[nodiscard]] bool has_hanging(ChildId child) const;
  [[nodiscard]] bool is_hanging(const plugin_host::Operation& op) const;
  [[nodiscard]] bool is_empty() const { return calls_.empty(); }
  /// The call that opens the set or asks for its info, and when it was sent; the oldest if there
  /// are several.
  [[nodiscard]] std::optional<std::pair<Op, SteadyTime>> opening() const;

  enum class Due : std::uint8_t { kNotSent, kCancel, kHang, kAbandon };
  /// A call whose next time has come, and what is due. Later calls of next_due() give what follows.
  std::optional<std::pair<Op, Due>> next_due(SteadyTime now);
  [[nodiscard]] std::optional<SteadyTime> wakes_at() const;
  /// As if the deadline of every call were now. One that is overdue already has had its time: it is
  /// abandoned when it would count as one that hangs.
  void expire_all(SteadyTime now);

 private:
  enum class Phase : std::uint8_t { kWaiting, kSent, kCancelled, kHanging };
  struct Call {
    Op op;
    Phase phase = Phase::kWaiting;
    ChildId child = 0;
    bool has_slot = false;
    SteadyTime sent;
    SteadyTime due;
    SteadyTime cancelled;
  };

  Id add_waiting(Op op);
  [[nodiscard]] std::vector<Op> select(const std::function<bool(const Call&)>& which) const;
  void set_sent(Call& call, ChildId child);
  void set_due(Id id, Call& call, SteadyTime due);

  const Times times_;
  plugin_host::CallQueue queue_;
  std::unordered_map<Id, Call> calls_;
  std::unordered_map<const plugin_host::Operation*, Id> ids_;
  std::unordered_map<ChildId, std::size_t> in_child_;  ///< How many calls; no entry: none.
  std::set<std::pair<SteadyTime, Id>> dues_;
  Id last_ = 0;
};

}  // namespace hostler::driver_host
