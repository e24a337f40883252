#include <string>
#include <utility>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/cards/card_kind.h"
#include "core/cards/readers.h"
#include "core/json/reader.h"

namespace hostler::cards {
namespace {

constexpr std::size_t kListedMax =
    4096;  // More than kCardsMax, so that the message has the number.
constexpr std::size_t kFilesMax = 64, kProblemMax = 200;
constexpr std::int64_t kMemoryMost = std::int64_t{1} << 50U;

/// "40GiB", or a number of bytes.
void read_memory(const json::Field& field, std::int64_t& out) {
  if (field.present() && field.value()->is(json::Kind::kNumber))
    field.integer(out, 0, kMemoryMost);
  else
    field.size(out, 0, kMemoryMost);
}

model::Card read_card(json::Object& o, std::int32_t place) {
  model::Card out;
  out.index = place;
  o.may("index").integer(out.index, 0, INT16_MAX);
  o.need("uuid").text(out.uuid, {.bytes_max = 64, .bytes_min = 1, .one_line = true});
  std::string kind, health;
  if (o.may("kind").text(kind, {.one_line = true})) out.kind = card_kind(kind);
  read_memory(o.may("memory"), out.memory);
  o.may("driver").text(out.driver, {.bytes_max = 64, .one_line = true});
  if (o.may("health").text(health, {.bytes_max = 4096}) && health != "ok")
    out.problem =
        health.empty() ? "its health is empty, not \"ok\"" : printable(health, kProblemMax);
  o.may("files").texts(out.files, kFilesMax, {.bytes_max = 4096, .one_line = true});
  return out;
}

}  // namespace

Result<std::vector<model::Card>> read_command(const agent::Cards& reading) {
  HOSTLER_TRY(check_status(reading));
  std::vector<model::Card> out;
  const auto read = json::read_object(reading.text, {}, [&](json::Object& o) {
    o.need("cards").each(kListedMax, [&](json::Field card) {
      const auto place = static_cast<std::int32_t>(out.size());
      card.object([&](json::Object& members) { out.push_back(read_card(members, place)); });
    });
  });
  if (!read) return tl::unexpected(read.error());
  return out;
}

}  // namespace hostler::cards
