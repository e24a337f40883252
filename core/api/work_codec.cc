#include "core/api/work_codec.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "core/base/assert.h"
#include "core/base/units.h"
#include "core/crypto/hash.h"
#include "core/json/gpus.h"

namespace hostler::api {
namespace {

using json::Object;
using json::Writer;

constexpr std::int64_t kBytesMax = std::int64_t{1} << 50;
constexpr std::array kMarkets{
    json::Word<model::Market>{"on_demand", model::Market::kOnDemand},
    json::Word<model::Market>{"spot", model::Market::kSpot},
};

void read_needs(Object& o, model::WorkSpec& out) {
  model::Resources& needs = out.needs;
  std::int64_t vcpus = 0;
  if (o.may("vcpus").thousandths(vcpus, 0, model::kVcpusMax.thousandths()))
    needs.vcpus = model::Vcpus::of_thousandths(vcpus);
  o.may("ram").size(needs.ram, 0, kBytesMax);
  o.may("scratch").size(needs.scratch, 0, kBytesMax);
  json::read_gpus(o.may("gpus"), needs.gpus, out.constraints.gpu);
}

void read_constraints(Object& o, const model::JobLimits& limits, model::Constraints& out) {
  if (o.may("types").names(out.types, limits.types_max)) std::ranges::sort(out.types);
  model::Market market{};
  if (o.may("market").word(market, kMarkets)) out.market = market;
  o.may("zone").text(out.zone, {.bytes_max = 63, .bytes_min = 1, .one_line = true});
}

}  // namespace

void write_waiting(Writer& w, const model::WaitingView& waiting) {
  w.begin_object().member("code", to_string(waiting.code)).member("reason", waiting.reason);
  w.member("ahead", waiting.ahead).end_object();
}

void read_common(Object& o, const model::JobLimits& limits, model::WorkSpec& out) {
  o.may("name").text(out.name, {.bytes_max = 200, .one_line = true});
  o.may("needs").object([&](Object& needs) { read_needs(needs, out); });
  o.may("priority").integer(out.priority, -1'000'000, 1'000'000);
  o.may("constraints").object([&](Object& c) { read_constraints(c, limits, out.constraints); });
  o.may("client_key").text(out.client_key, {.bytes_max = 200, .bytes_min = 1, .one_line = true});
}

model::WorkItem submitted_work(const model::WorkSpec& spec, std::string body) {
  HOSTLER_ASSERT(spec.needs.gpus > 0 || spec.constraints.gpu == model::GpuWish{},
                 "work without gpus asks for no kind of them");
  model::WorkItem out;
  if (!spec.client_key.empty()) out.client_digest = crypto::sha256_hex(body);
  out.body = std::make_shared<const std::string>(std::move(body));
  out.shape.needs = spec.needs;
  out.shape.constraints = spec.constraints;
  out.shape.priority = spec.priority;
  out.name = spec.name;
  out.client_key = spec.client_key;
  return out;
}

void write_head(Writer& w, const model::WorkItem& work, std::string_view state, Sight sight) {
  const model::WorkRecord& record = work.record;
  w.member("id", record.id.text());
  if (!work.name.empty()) w.member("name", work.name);
  w.member("state", state);
  if (record.reason != model::EndReason::kNone) w.member("reason_code", to_string(record.reason));
  if (!record.reason_text.empty() && sight == Sight::kAll) w.member("reason", record.reason_text);
}

void write_needs(Writer& w, const model::Resources& needs, const model::GpuWish& gpu) {
  w.key("needs").begin_object();
  w.key("vcpus").thousandths(needs.vcpus.thousandths());
  w.member("ram", exact_size(needs.ram));
  if (needs.scratch != 0) w.member("scratch", exact_size(needs.scratch));
  json::write_gpus(w, needs.gpus, gpu);
  w.end_object();
}

void write_constraints(Writer& w, const model::Constraints& constraints) {
  if (constraints.types.empty() && !constraints.market && constraints.zone.empty()) return;
  w.key("constraints").begin_object();
  write_texts(w, "types", constraints.types);
  if (constraints.market) w.member("market", to_string(*constraints.market));
  if (!constraints.zone.empty()) w.member("zone", constraints.zone);
  w.end_object();
}

void write_texts(Writer& w, std::string_view key, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  w.key(key).begin_array();
  for (const std::string& text : texts) w.value(text);
  w.end_array();
}

void write_time(Writer& w, std::string_view key, Wall time) {
  if (time.us != 0) w.member(key, exact_wall(time));
}

void write_cards(json::Writer& w, const std::vector<model::CardView>& cards) {
  if (cards.empty()) return;
  w.key("cards").begin_array();
  for (const auto& [card, state, attempt] : cards) {
    w.begin_object().member("uuid", card.uuid).member("state", model::to_string(state));
    if (!card.kind.empty() || !card.files.empty()) w.member("index", card.index);
    if (!card.kind.empty()) w.member("kind", card.kind);
    if (card.memory != 0) w.member("memory", card.memory);
    if (!card.driver.empty()) w.member("driver", card.driver);
    if (!card.problem.empty()) w.member("problem", card.problem);
    if (attempt) w.member("attempt", attempt->text());
    w.end_object();
  }
  w.end_array();
}

}  // namespace hostler::api
