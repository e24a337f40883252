#include <set>
#include <string>
#include <utility>

#include "core/planning/readers.h"
#include "core/planning/words.h"

/// The bounds of a pool, by sources other than the configuration.
namespace hostler::planning {
namespace {

using scheduler::Bound;
using scheduler::BoundOf;

void read_source(const json::Field& field, std::string& out) {
  if (field.name(out) && out == scheduler::kConfigSource)
    field.problem(
        "found \"config\", allowed: another source; min, max, created_min, created_max, standby "
        "and "
        "stopped of the pool are what the configuration says");
}

void read_until(const json::Field& field, std::optional<Mono>& out) {
  Duration left{};
  if (field.duration(left, Duration(1), kLongest)) out = kNow + left;
}

}  // namespace

void read_bounds(const json::Field& field, std::vector<Bound>& out) {
  std::set<std::pair<BoundOf, std::string>> taken;
  field.each(kBoundsMax, [&](const json::Field& element) {
    element.object([&](json::Object& o) {
      Bound bound;
      o.need("bound").word(bound.of, kBoundWords);
      read_source(o.need("source"), bound.source);
      std::int64_t number = 0;
      if (o.may("number").integer(number, 0, kHostsMax)) bound.number = number;
      o.may("reason").text(bound.reason, {.bytes_max = kReasonMax});
      read_until(o.may("holds_for"), bound.until);
      if (!taken.emplace(bound.of, bound.source).second)
        element.problem("found this bound of source \"" + bound.source +
                        "\" a second time, allowed: each once");
      out.push_back(std::move(bound));
    });
  });
}

}  // namespace hostler::planning
