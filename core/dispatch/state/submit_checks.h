#pragma once

#include <string>

#include "core/dispatch/events.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/principals.h"
#include "core/dispatch/state/questions/offered_types.h"
#include "core/dispatch/state/sets.h"

namespace hostler::dispatch {

/// All reasons to refuse a submit, quotas aside, so that it is accepted as a whole or not at all.
class SubmitChecks {
 public:
  SubmitChecks(const model::SitePolicy& policy, const Sets& sets, const Principals& principals,
               const Menu& menu, const OfferedTypes& offered)
      : policy_(policy), sets_(sets), principals_(principals), menu_(menu), offered_(offered) {}

  [[nodiscard]] Result<void> check(const Submit& event, Mono now) const;

 private:
  [[nodiscard]] Result<void> check_numbers() const;
  [[nodiscard]] Result<void> check_shape(const model::WorkShape& shape, Mono now) const;
  [[nodiscard]] std::string silent_sets() const;

  const model::SitePolicy& policy_;
  const Sets& sets_;
  const Principals& principals_;
  const Menu& menu_;
  const OfferedTypes& offered_;
};

}  // namespace hostler::dispatch
