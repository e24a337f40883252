#include "core/config/readers.h"

namespace hostler::config {
namespace {

constexpr std::size_t kPoliciesMax = 10;
constexpr std::int32_t kPercentMax = 100'000;

void read_rate(json::Object& o, model::ScalingRate& out) {
  const std::string_view unit = o.exactly_one({"hosts", "percent"});
  out.is_percent = unit == "percent";
  if (!unit.empty())
    o.may(unit).integer(out.value, 1, out.is_percent ? kPercentMax : kInstancesMax);
  o.need("per").duration(out.per, 1s, 30min);
}

void read_rules(const json::Field& field, model::ScalingRules& out) {
  field.object([&](json::Object& o) {
    o.may("window").duration(out.window, 0s, 1h);
    // With 1, a bound would never become 0.
    o.may("tolerance").number(out.tolerance, 0, 0.9);
    const json::Field policies = o.may("policies");
    policies.each(kPoliciesMax, [&](const json::Field& element) {
      element.object([&](json::Object& rate) { read_rate(rate, out.policies.emplace_back()); });
    });
  });
}

void read_drain(const json::Field& field, std::optional<model::DrainPolicy>& out) {
  field.object([&](json::Object& o) {
    model::DrainPolicy& drain = out.emplace();
    const json::Field command = o.may("command"), quiet = o.may("quiet");
    read_command(command, nullptr, drain.command);
    quiet.text(drain.quiet, {.bytes_max = kExpressionMax, .bytes_min = 1});
    o.may("timeout").duration(drain.timeout, 1s, 24h);
    if (!command.present() && !quiet.present())
      field.problem("it needs command, which is run before a host goes, or quiet, or both");
  });
}

}  // namespace

void read_scaling(const json::Field& field, model::ScalingPolicy& out) {
  field.object([&](json::Object& o) {
    read_rules(o.may("up"), out.up);
    read_rules(o.may("down"), out.down);
    o.may("lifetime_min").duration(out.lifetime_min, 0s, 24h * 30);
    o.may("rank").text(out.rank, {.bytes_max = kMetricNameMax, .bytes_min = 1, .one_line = true});
    read_drain(o.may("drain"), out.drain);
  });
}

}  // namespace hostler::config
