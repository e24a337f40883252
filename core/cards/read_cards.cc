#include "core/cards/read_cards.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/cards/check.h"
#include "core/cards/readers.h"

namespace hostler::cards {
namespace {

using Tool = agent::Cards::Tool;

constexpr std::size_t kLineMax = 200, kReportMax = 1000;

const char* source_of(Tool tool) {
  switch (tool) {
    case Tool::kNone:
      return "";
    case Tool::kNvidia:
      return "nvidia-smi";
    case Tool::kRocm:
      return "rocm-smi";
    case Tool::kCommand:
      return "command";
  }
  return "";
}

Result<std::vector<model::Card>> read_text(const agent::Cards& reading) {
  if (reading.cut)
    return fail(Errc::kInvalidArgument,
                "it printed more than " + format_size(std::int64_t{agent::kCardsTextMax}));
  if (reading.timed_out)
    return fail(Errc::kInvalidArgument, "it did not end in time and was killed");
  if (!is_utf8(reading.text))
    return fail(Errc::kInvalidArgument,
                "it printed what is not UTF-8: " + printable(reading.text, kLineMax));
  switch (reading.tool) {
    case Tool::kNone:
      return std::vector<model::Card>();
    case Tool::kNvidia:
      return read_nvidia(reading);
    case Tool::kRocm:
      return read_rocm(reading);
    case Tool::kCommand:
      return read_command(reading);
  }
  return std::vector<model::Card>();
}

Result<std::vector<model::Card>> read_checked(const agent::Cards& reading) {
  auto cards = HOSTLER_TRY(read_text(reading));
  HOSTLER_TRY(check_cards(cards));
  std::ranges::sort(cards, {}, &model::Card::uuid);
  return cards;
}

bool is_hex(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; });
}

}  // namespace

Result<void> check_status(const agent::Cards& reading) {
  if (reading.status == 0) return {};
  const std::string_view text = reading.text;
  const std::string line = printable(text.substr(0, text.find('\n')), kLineMax);
  return fail(Errc::kInvalidArgument,
              "it ended with status " + std::to_string(reading.status) + ": " + line);
}

std::string bus_address(std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() != 3 || parts[0].size() < 4 || parts[0].size() > 8 || parts[1].size() != 2 ||
      parts[2].size() != 4 || parts[2][2] != '.')
    return "";
  std::string_view domain = parts[0];
  while (domain.size() > 4 && domain.starts_with('0')) domain.remove_prefix(1);
  if (!is_hex(domain) || !is_hex(parts[1]) || !is_hex(parts[2].substr(0, 2)) ||
      !is_hex(parts[2].substr(3)))
    return "";
  std::string out = std::string(domain) + ":" + std::string(parts[1]) + ":" + std::string(parts[2]);
  std::ranges::transform(out, out.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return out;
}

std::vector<std::string> files_at(const agent::Cards& reading, const std::string& bus) {
  std::vector<std::string> out;
  for (const agent::Cards::File& file : reading.files)
    if (!bus.empty() && bus_address(file.bus) == bus) out.push_back(file.path);
  return out;
}

model::CardReport read_cards(const agent::Cards& reading) {
  model::CardReport out;
  out.source = source_of(reading.tool);
  out.guard = reading.guard;
  if (reading.tool == Tool::kNone) return out;
  auto cards = read_checked(reading);
  if (cards)
    out.cards = std::move(*cards);
  else
    out.problem = printable(out.source + ": " + cards.error().message, kReportMax);
  return out;
}

}  // namespace hostler::cards
