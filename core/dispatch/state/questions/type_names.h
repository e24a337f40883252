#pragma once

#include <set>
#include <string>

#include "core/model/offering.h"

namespace hostler::dispatch {

/// The name of the instance type that is made of an offered type: the provider type in small
/// letters with '-' for each character that names cannot have, and "-spot" at the end for spot. If
/// that is taken, the name of the set is added, and if that is taken too, a number. `taken` has the
/// names that may not be given.
[[nodiscard]] std::string name_for(const std::string& set, const std::string& provider_type,
                                   model::Market market, const std::set<std::string>& taken);

}  // namespace hostler::dispatch
