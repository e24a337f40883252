#include "core/model/ids.h"

#include <array>

namespace hostler::model {
namespace {

constexpr std::array<char, 3> kPrefixes{'j', 'l', 'r'};  ///< By WorkKind.

}  // namespace

std::string WorkId::text() const {
  return std::string{kPrefixes[static_cast<std::size_t>(kind)], '-'} + std::to_string(value);
}

std::optional<WorkId> WorkId::parse(std::string_view text) {
  if (text.size() < 3 || text[1] != '-') return std::nullopt;
  const auto number = parse_u64(text.substr(2));
  if (!number || *number == 0) return std::nullopt;
  for (std::size_t i = 0; i < kPrefixes.size(); ++i)
    if (kPrefixes[i] == text[0]) return WorkId{*number, static_cast<WorkKind>(i)};
  return std::nullopt;
}

std::optional<AttemptId> AttemptId::parse(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto work = WorkId::parse(text.substr(0, dot));
  const auto number = parse_u64(text.substr(dot + 1));
  if (!work || !number || *number == 0 || *number > UINT32_MAX) return std::nullopt;
  return AttemptId{*work, static_cast<std::uint32_t>(*number)};
}

}  // namespace hostler::model
