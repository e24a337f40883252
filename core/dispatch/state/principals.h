#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/demand/shares.h"
#include "core/dispatch/state/client_keys.h"
#include "core/dispatch/state/waiting_work.h"
#include "core/fleet/instance.h"
#include "core/model/quotas.h"

namespace hostler::dispatch {

/// Who submits work: the names of principals, what each of them has used and holds of hosts, what
/// it may hold, and its client keys. After each change it tells WaitingWork the place of the
/// principal in the order of turns, and what it may hold besides.
class Principals {
 public:
  /// `waiting` outlives it.
  explicit Principals(WaitingWork& waiting) : waiting_(waiting) {}

  void restore(const model::PrincipalUse& use, Now now);
  void set_half_life(Duration half_life, Mono now);
  /// The limits of each principal from now on. It keeps the parts of hosts that it holds already.
  void set_quotas(const model::Quotas& quotas);

  /// The number of a principal, which is made if it is new.
  demand::PrincipalId intern(const std::string& name);
  /// nullopt: it has submitted nothing since the start that had not ended before.
  [[nodiscard]] std::optional<demand::PrincipalId> find(const std::string& name) const;
  [[nodiscard]] const std::string& name(demand::PrincipalId principal) const {
    return names_[principal];
  }
  /// By number.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  /// Work of the class holds this part of a host, at the price by demand::price_of_part(). A lease
  /// holds its host whole.
  void hold(demand::PrincipalId principal, demand::ClassId cls, const model::Amounts& part,
            Mono now);
  /// It is held no more. True: the principal has a limit, and waits, so it may hold more.
  bool release(demand::PrincipalId principal, const model::Amounts& part, Mono now);
  [[nodiscard]] const demand::Shares& shares() const { return shares_; }
  /// What one principal holds of hosts.
  [[nodiscard]] demand::Shares::Held held_by(const std::string& name) const;
  /// When use_changes() has something to write; kNever: no use changes.
  [[nodiscard]] Mono next_use_tick() const { return use_tick_; }
  /// Brings all uses up to date, and returns those that have changed, for the journal.
  /// O(principals).
  [[nodiscard]] std::vector<model::PrincipalUse> use_changes(Now now);

  [[nodiscard]] ClientKeys& client_keys() { return client_keys_; }
  [[nodiscard]] const ClientKeys& client_keys() const { return client_keys_; }

 private:
  /// After what the principal holds or may hold has changed.
  void update_allowance(demand::PrincipalId principal);
  /// After the use of the principal has changed.
  void use_changed(demand::PrincipalId principal, Mono now);

  WaitingWork& waiting_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, demand::PrincipalId> ids_;
  std::vector<demand::Allowance> limits_;  ///< Of what a principal holds together.
  model::Quotas quotas_;
  demand::Shares shares_;
  Mono use_tick_ = fleet::kNever;
  ClientKeys client_keys_;
};

}  // namespace hostler::dispatch
