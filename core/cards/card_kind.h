#pragma once

#include <string>
#include <string_view>

namespace hostler::cards {

/// The kind of a card by the name of its product: lower case, without the names of makers and their
/// lines of products, and with a hyphen for all that a kind's name cannot have. "NVIDIA
/// A100-SXM4-40GB" is "a100-sxm4-40gb", "Navi 21 [Radeon RX 6800]" is "radeon-rx-6800". Empty if
/// nothing is left, or if the tool has not said it ("[N/A]").
std::string card_kind(std::string_view product);

}  // namespace hostler::cards
