#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/text.h"

namespace hostler::model {

/// The most bytes of an id or a name that a driver or a host may give.
inline constexpr std::size_t kForeignNameMax = 255;

/// A number of one kind, so that a job's cannot be passed for an instance's. 0 is "none".
/// Shown and stored as "<prefix>-<number>"; numbers rise in the order of making.
template <char kPrefix>
struct Id {
  std::uint64_t value = 0;
  explicit operator bool() const { return value != 0; }
  friend auto operator<=>(const Id&, const Id&) = default;
  [[nodiscard]] std::string text() const {
    return std::string{kPrefix, '-'} + std::to_string(value);
  }
  static std::optional<Id> parse(std::string_view text) {
    if (text.size() < 3 || text[0] != kPrefix || text[1] != '-') return std::nullopt;
    const auto number = parse_u64(text.substr(2));
    if (!number || *number == 0) return std::nullopt;
    return Id{*number};
  }
};

using InstanceId = Id<'h'>;  ///< "h-7": ours, from the moment of the create's intent.

/// The kinds of work. Their numbers are stored.
enum class WorkKind : std::uint8_t {
  kJob,          ///< A command to run: "j-7".
  kLease,        ///< A host that is lent for a time: "l-7".
  kReservation,  ///< A signed request for a resource, limited in time: "r-7".
  kTask,         ///< A task of an outside scheduler. It has no number here, and is never placed.
};

/// One piece of work. All kinds take their numbers from one counter, so a number names one piece of
/// work, and a lower number was submitted earlier. 0 is "none".
struct WorkId {
  std::uint64_t value = 0;
  WorkKind kind = WorkKind::kJob;
  explicit operator bool() const { return value != 0; }
  friend auto operator<=>(const WorkId&, const WorkId&) = default;
  /// "j-42", "l-3", "r-12".
  [[nodiscard]] std::string text() const;
  /// Of any kind.
  static std::optional<WorkId> parse(std::string_view text);
};

/// One try of a piece of work; numbers count from 1. An attempt starts at most once.
struct AttemptId {
  WorkId work;
  std::uint32_t number = 0;
  friend auto operator<=>(const AttemptId&, const AttemptId&) = default;
  [[nodiscard]] std::string text() const { return work.text() + "." + std::to_string(number); }
  static std::optional<AttemptId> parse(std::string_view text);
};

/// Counts everything that happened, without holes.
using Revision = std::uint64_t;

}  // namespace hostler::model

template <char kPrefix>
struct std::hash<hostler::model::Id<kPrefix>> {
  std::size_t operator()(const hostler::model::Id<kPrefix>& id) const noexcept {
    return std::hash<std::uint64_t>()(id.value);
  }
};
template <>
struct std::hash<hostler::model::WorkId> {
  std::size_t operator()(const hostler::model::WorkId& id) const noexcept {
    return std::hash<std::uint64_t>()(id.value);
  }
};
