#pragma once

#include "core/agent/protocol.h"
#include "core/model/card.h"

/// What an agent tells of the cards of its host, understood. The host is not trusted: whatever it
/// has printed becomes a report within the bounds of model::Card. Pure.
namespace hostler::cards {

/// The report of one reading. Any doubt makes the whole reading fail: then `problem` says why, in a
/// line that names the tool, and there are no cards.
model::CardReport read_cards(const agent::Cards& reading);

}  // namespace hostler::cards
