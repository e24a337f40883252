#include <optional>
#include <string>
#include <utility>

#include "core/planning/readers.h"
#include "core/planning/words.h"

/// What can be bought, and the gates that forbid some of it.
namespace hostler::planning {
namespace {

constexpr json::TextRule kPlace{.bytes_max = 255, .one_line = true};

/// As its type says; else one for each of its gpus.
std::int32_t slots_of(const Draft& draft, const scheduler::Offering& o) {
  return draft.slots_said.contains(o.type) ? draft.out.policy.types[o.type].resources.slots
                                           : o.resources.gpus;
}

void read_offering(json::Object& o, Draft& draft) {
  scheduler::Offering out;
  std::string id;
  const json::Field its_id = o.need("id");
  const auto next = static_cast<std::uint32_t>(draft.offerings.size());
  if (its_id.text(id, {.bytes_max = 255, .bytes_min = 1, .one_line = true}) &&
      !draft.offerings.try_emplace(id, next).second)
    its_id.problem("found \"" + id + "\" a second time, allowed: each id once");
  read_reference(o.need("pool"), draft.pools, "pool", out.pool);
  read_reference(o.need("set"), draft.sets, "set", out.set);
  read_reference(o.need("type"), draft.types, "type", out.type);
  o.may("zone").text(out.zone, kPlace);
  o.may("subnet").text(out.subnet, kPlace);
  o.may("market").word(out.market, kMarkets);
  read_resources(o, out.resources, out.gpus);
  if (!o.may("slots").present()) out.resources.slots = slots_of(draft, out);
  o.need("price_per_hour").millionths(out.price_per_hour.value, 0, kMoneyMax);
  o.may("shut").text(out.shut, {.bytes_max = kReasonMax});
  o.may("quota_group").text(out.quota_group, kPlace);
  for (const auto& flag : kOfferingFlags) o.may(flag.key).boolean(out.*flag.member);
  o.may("note").text(out.note, {.bytes_max = kReasonMax});
  draft.out.snapshot.offerings.push_back(std::move(out));
}

/// A gate as the API shows it: an unset member holds for all.
struct Gate {
  std::string message, zone, subnet;
  std::optional<std::uint32_t> set, pool, type;
  std::optional<model::Market> market;

  [[nodiscard]] bool holds(const scheduler::Offering& o) const {
    return (!set || *set == o.set) && (!pool || *pool == o.pool) && (!type || *type == o.type) &&
           (!market || *market == o.market) && (zone.empty() || zone == o.zone) &&
           (subnet.empty() || subnet == o.subnet);
  }
};

void read_optional(const json::Field& field, const Names& known, const char* kind,
                   std::optional<std::uint32_t>& out) {
  std::uint32_t index = 0;
  if (read_reference(field, known, kind, index)) out = index;
}

}  // namespace

void read_offerings(const json::Field& field, Draft& draft) {
  field.each(kListMax, [&](const json::Field& element) {
    element.object([&](json::Object& o) { read_offering(o, draft); });
  });
}

void read_gates(const json::Field& field, Draft& draft) {
  field.each(1000, [&](const json::Field& element) {
    element.object([&](json::Object& o) {
      Gate gate;
      o.need("message").text(gate.message, {.bytes_max = kReasonMax, .bytes_min = 1});
      read_optional(o.may("set"), draft.sets, "set", gate.set);
      read_optional(o.may("pool"), draft.pools, "pool", gate.pool);
      read_optional(o.may("type"), draft.types, "type", gate.type);
      o.may("zone").text(gate.zone, kPlace);
      o.may("subnet").text(gate.subnet, kPlace);
      model::Market market{};
      if (o.may("market").word(market, kMarkets)) gate.market = market;
      for (auto& offering : draft.out.snapshot.offerings)
        if (offering.shut.empty() && gate.holds(offering)) offering.shut = gate.message;
    });
  });
}

}  // namespace hostler::planning
