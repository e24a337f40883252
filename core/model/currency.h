#pragma once

#include <optional>
#include <string>

#include "core/model/policy.h"

/// Prices of clouds in the currency of the site. Pure.
namespace hostler::model {

/// What one of this currency is in the site's; nullopt: the site does not say. A cloud that names
/// no currency is taken to use the site's, and so is each cloud if the site names none.
[[nodiscard]] std::optional<double> rate_of(const SitePolicy& site, const std::string& currency);
/// At least 0; a millionth is the least price above 0.
[[nodiscard]] Micros to_site(Micros price, double rate);
/// A limit of the site in a cloud's currency: never more than it is worth.
[[nodiscard]] Micros from_site(Micros limit, double rate);
/// Why prices in this currency are not used, one sentence for people.
[[nodiscard]] std::string no_rate_text(const SitePolicy& site, const std::string& currency);

}  // namespace hostler::model
