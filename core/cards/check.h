#pragma once

#include <vector>

#include "core/base/error.h"
#include "core/model/card.h"

namespace hostler::cards {

/// The error of a host that lists more than kCardsMax cards.
tl::unexpected<Error> too_many_cards();
/// What must hold of the cards of a host, whatever tool has listed them: their number, their UUIDs,
/// which differ, and the bounds of model::Card. The error names the first card that breaks it.
Result<void> check_cards(const std::vector<model::Card>& cards);

}  // namespace hostler::cards
