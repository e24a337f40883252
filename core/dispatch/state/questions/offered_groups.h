#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/dispatch/state/questions/offered_types.h"
#include "core/model/policy.h"

namespace hostler::dispatch {

/// A type of one set and market with its rows, one for each zone.
struct OfferedGroup {
  std::vector<const model::OfferedRow*> rows;
  std::map<std::string, model::Micros> prices;  ///< By zone, in the site's currency.
  bool has_price = false;                       ///< One that a set says, maybe in another currency.

  [[nodiscard]] const model::OfferedRow& first() const { return *rows.front(); }
  /// The row of a zone that says the sizes, if there is one.
  [[nodiscard]] const model::OfferedRow& sized() const;
  /// As some zone says it.
  [[nodiscard]] std::string architecture() const;
  [[nodiscard]] model::Micros least_price() const;
};

/// The types that the set offers, with their prices: as the set says them, otherwise as the file of
/// the set's prices. Valid as long as `offered` does not change.
[[nodiscard]] std::vector<OfferedGroup> offered_groups(const OfferedTypes::OfSet& offered,
                                                       const model::SitePolicy& site,
                                                       const model::SetPolicy& set);

}  // namespace hostler::dispatch
