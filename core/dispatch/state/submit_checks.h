#pragma once

#include <string>
#include <vector>

#include "core/dispatch/events.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/principals.h"
#include "core/dispatch/state/questions/offered_types.h"
#include "core/dispatch/state/sets.h"

namespace hostler::dispatch {

/// Checks that the pool lends hosts for this term. kInvalidArgument: the message says for how long
/// it lends, or that it does not.
[[nodiscard]] Result<void> check_term(const model::PoolPolicy& pool, Duration term);

/// All reasons to refuse a submit, quotas aside, so that it is accepted as a whole or not at all.
class SubmitChecks {
 public:
  SubmitChecks(const model::SitePolicy& policy, const Sets& sets, const Principals& principals,
               const Menu& menu, const OfferedTypes& offered)
      : policy_(policy), sets_(sets), principals_(principals), menu_(menu), offered_(offered) {}

  [[nodiscard]] Result<void> check(const Submit& event, Mono now) const;
  /// A lease as a submit of one item, with the pools that lend hosts for its term: the one that it
  /// names, or all; with a login if it has keys, without one otherwise. Fails if there is none.
  [[nodiscard]] Result<Submit> as_submit(const SubmitLease& event) const;

 private:
  [[nodiscard]] Result<void> check_numbers() const;
  [[nodiscard]] Result<std::vector<std::string>> pools_that_lend(
      const std::vector<std::string>& named, const model::LeaseRecord& terms) const;
  [[nodiscard]] Result<void> check_shape(const model::WorkItem& item, Mono now) const;
  [[nodiscard]] std::string silent_sets() const;

  const model::SitePolicy& policy_;
  const Sets& sets_;
  const Principals& principals_;
  const Menu& menu_;
  const OfferedTypes& offered_;
};

}  // namespace hostler::dispatch
