#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/text.h"

namespace hostler::model {

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

using JobId = Id<'j'>;       ///< "j-42"
using InstanceId = Id<'h'>;  ///< "h-7": ours, from the moment of the create's intent.

/// One try of a piece of work; numbers count from 1. An attempt starts at most once.
struct AttemptId {
  JobId job;
  std::uint32_t number = 0;
  friend auto operator<=>(const AttemptId&, const AttemptId&) = default;
  [[nodiscard]] std::string text() const { return job.text() + "." + std::to_string(number); }
  static std::optional<AttemptId> parse(std::string_view text) {
    const std::size_t dot = text.find('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const auto job = JobId::parse(text.substr(0, dot));
    const auto number = parse_u64(text.substr(dot + 1));
    if (!job || !number || *number == 0 || *number > UINT32_MAX) return std::nullopt;
    return AttemptId{*job, static_cast<std::uint32_t>(*number)};
  }
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
