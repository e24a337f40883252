#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Kinds of graphics cards, as the site names them: of types, of offerings and of work. The number
/// of cards is Resources::gpus; this says which they are.
namespace hostler::model {

/// A kind's name is a part of ledgers, metrics and requests: `[a-z0-9._-]{1,63}`.
inline constexpr std::size_t kGpuKindBytesMax = 63;
/// The text has this form.
inline bool is_gpu_kind(std::string_view text) {
  constexpr std::string_view kBytes = "abcdefghijklmnopqrstuvwxyz0123456789._-";
  return !text.empty() && text.size() <= kGpuKindBytesMax &&
         text.find_first_not_of(kBytes) == std::string_view::npos;
}
/// Kinds on one type or host.
inline constexpr std::size_t kGpuKindsMax = 8;
/// Cards of one host.
inline constexpr std::int32_t kCardsMax = 256;
/// The highest number that a menu, a request or a driver may name.
inline constexpr std::int32_t kGpusMax = 1 << 20;

/// Equal cards of one type or host.
struct GpuGroup {
  std::string kind;         ///< Empty: not said.
  std::int64_t memory = 0;  ///< Bytes of each card; 0: not said.
  std::int32_t count = 0;
  friend auto operator<=>(const GpuGroup&, const GpuGroup&) = default;
};
/// By kind, then memory; no two have both alike. Empty: nothing is said beside the number.
using GpuGroups = std::vector<GpuGroup>;

/// Which cards work asks for. All cards of one item are of one group, on one host.
struct GpuWish {
  std::string kind;         ///< Empty: any.
  std::int64_t memory = 0;  ///< Bytes that each card has at least; 0: any.
  friend auto operator<=>(const GpuWish&, const GpuWish&) = default;

  /// A card of the group will do. What is not said of a card does not meet a wish for it.
  [[nodiscard]] bool meets(const GpuGroup& group) const {
    return (kind.empty() || kind == group.kind) && memory <= group.memory;
  }
};

}  // namespace hostler::model
