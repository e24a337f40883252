#pragma once

#include <string>
#include <vector>

#include "core/fleet/instance.h"
#include "core/model/policy.h"
#include "core/model/views.h"

/// The cards of one host, as they are shown.
namespace hostler::dispatch {

/// By index; those that have vanished and that an attempt has still are the last ones.
std::vector<model::CardView> cards_of(const fleet::Instance& instance);
/// `cards`: as cards_of(). Where only their number is known, that of the menu.
model::CardCounts count_of(const std::vector<model::CardView>& cards,
                           const fleet::Instance& instance, const model::SitePolicy& policy);
/// There is something to guard.
bool has_files(const fleet::HostCards& cards);
/// What is wrong with them now, in sentences for people.
void add_cards(const fleet::Instance& instance, const model::SitePolicy& policy,
               std::vector<std::string>& texts);

}  // namespace hostler::dispatch
