#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "core/base/text.h"
#include "core/cards/card_kind.h"
#include "core/cards/readers.h"
#include "core/json/document.h"

namespace hostler::cards {
namespace {

constexpr std::string_view kCard = "card";

/// The keys have changed their case from one version to the next: "Card series", "Card Series".
std::string_view text_at(const json::Value& card, std::string_view key, std::string_view older) {
  const auto value = card.has(key) ? card.at(key) : card.at(older);
  return value.is(json::Kind::kString) || value.is(json::Kind::kNumber) ? value.text() : "";
}

/// "0x9246..." as ROCm writes it where it takes UUIDs: "GPU-" and 16 digits. Empty: it has none.
std::string uuid_of(std::string_view unique_id) {
  constexpr std::size_t kDigits = 16;
  if (!unique_id.starts_with("0x") || unique_id.size() > 2 + kDigits) return "";
  std::string digits(kDigits - (unique_id.size() - 2), '0');
  digits.append(unique_id.substr(2));
  std::ranges::transform(digits, digits.begin(), [](char c) {
    return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (!from_hex(digits) || digits == std::string(kDigits, '0')) return "";
  return "GPU-" + digits;
}

tl::unexpected<Error> misses(std::string_view card, const std::string& what) {
  return fail(Errc::kInvalidArgument,
              "it printed " + what + " for " + printable(card, 40) +
                  ": of another version? The pool's gpu_command can replace it");
}

Result<model::Card> read_card(const agent::Cards& reading, const json::Value& value,
                              std::string_view driver) {
  const std::string_view name = value.key();
  const auto index = parse_u64(name.substr(kCard.size()));
  const std::string bus = bus_address(text_at(value, "PCI Bus", ""));
  const auto memory = parse_u64(text_at(value, "VRAM Total Memory (B)", ""));
  if (!index || *index > INT16_MAX || !value.is(json::Kind::kObject))
    return misses(name, "no number");
  if (bus.empty()) return misses(name, "no \"PCI Bus\"");
  if (!value.has("Unique ID")) return misses(name, "no \"Unique ID\"");
  model::Card out;
  out.index = static_cast<std::int32_t>(*index);
  out.uuid = uuid_of(text_at(value, "Unique ID", ""));
  if (out.uuid.empty()) {
    // Without one no variable can name it, and a job that was given it would see all.
    out.uuid = bus;
    out.problem = "it has no unique id";
  }
  out.kind = card_kind(text_at(value, "Card Series", "Card series"));
  if (memory && *memory <= INT64_MAX) out.memory = static_cast<std::int64_t>(*memory);
  out.driver = driver;
  out.files = files_at(reading, bus);
  return out;
}

/// Warnings come before the object, such as that a card sleeps.
std::string_view object_in(std::string_view text) {
  while (!text.empty() && !text.starts_with('{')) {
    const std::size_t end = text.find('\n');
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return text;
}

}  // namespace

Result<std::vector<model::Card>> read_rocm(const agent::Cards& reading) {
  HOSTLER_TRY(check_status(reading));
  const std::string_view text = object_in(reading.text);
  if (text.empty())
    return fail(Errc::kInvalidArgument,
                "it printed no JSON object: " + printable(reading.text, 120));
  const auto document = HOSTLER_TRY(json::Document::parse(text));
  const json::Value root = document.root();
  const std::string_view driver = text_at(root.at("system"), "Driver version", "Driver Version");
  std::vector<model::Card> out;
  for (const json::Value member : root.children()) {
    if (!member.key().starts_with(kCard)) continue;
    out.push_back(HOSTLER_TRY(read_card(reading, member, driver)));
  }
  if (out.empty()) return fail(Errc::kInvalidArgument, "it lists no card");
  return out;
}

}  // namespace hostler::cards
