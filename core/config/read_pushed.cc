#include <array>
#include <utility>

#include "core/base/units.h"
#include "core/config/readers.h"

namespace hostler::config {
namespace {

constexpr std::int32_t kAuxMax = 1'000'000;
constexpr std::array kAgentNames{
    json::Word<model::AgentName>{"instance", model::AgentName::kInstance},
    json::Word<model::AgentName>{"cloud_id", model::AgentName::kCloudId},
    json::Word<model::AgentName>{"address", model::AgentName::kAddress},
};

/// A duration, or "off", which is 0.
bool read_limit(const json::Field& field, Duration& out, Duration min) {
  std::string text;
  if (!field.text(text, {.bytes_max = 63, .one_line = true})) return false;
  const auto read = text == "off" ? Duration{} : parse_duration(text).value_or(Duration{});
  if (text != "off" && (read < min || read > kLongest))
    return field.refuse("\"off\", or a duration from " + exact_duration(min) + " to " +
                        exact_duration(kLongest));
  out = read;
  return true;
}

/// Where a problem of both is shown: at the first, unless it is left at its default.
const json::Field& written(const json::Field& a, const json::Field& b) {
  return a.present() ? a : b;
}

void read_policy(json::Object& o, model::PushedPolicy& out) {
  const json::Field max_age = o.may("max_age"), shrink_after = o.may("shrink_after");
  max_age.duration(out.max_age, 1s, 1h);
  shrink_after.duration(out.shrink_after, 1s, 24h);
  if (out.shrink_after < out.max_age)
    written(shrink_after, max_age)
        .problem("shrink_after " + exact_duration(out.shrink_after) + " is below max_age " +
                 exact_duration(out.max_age) +
                 ": an agent would be given up before information is too old");
  o.may("starting").duration(out.starting, 1s, 24h);
  o.may("disconnected").duration(out.disconnected, 1s, 24h);
  o.may("agent_name").word(out.agent_name, kAgentNames);
  o.may("aux_per_agent").integer(out.aux_per_agent, 0, kAuxMax);
  const json::Field abandoned = o.may("abandoned_after");
  if (read_limit(abandoned, out.abandoned_after, 1s) && out.abandoned_after != Duration{} &&
      out.abandoned_after <= out.max_age)
    abandoned.problem("found " + exact_duration(out.abandoned_after) +
                      ", allowed: \"off\", or more than max_age " + exact_duration(out.max_age));
  read_limit(o.may("lifetime_max"), out.lifetime_max, 1s);
}

/// Keys that another scheduler makes senseless.
struct Refused {
  std::string_view key, why;
};
constexpr std::string_view kNoUses = "no jobs and no leases are on its hosts";
constexpr std::string_view kNoSwitch =
    "hosts are kept for an outside scheduler by min alone, and none is switched off";
constexpr std::array kRefused{
    Refused{"leases", "two schedulers on one host would each see the other's work as free room"},
    Refused{"standby", kNoSwitch},
    Refused{"stopped", kNoSwitch},
    Refused{"created_min", kNoSwitch},
    Refused{"created_max", kNoSwitch},
    Refused{"scaling", "its hosts go by the handshake with its scheduler, which drains them"},
    Refused{"attempts_parallel_max", kNoUses},
    Refused{"uses_max", kNoUses},
};

void check_bound(const json::Field& field, const std::string& text) {
  if (!text.empty())
    field.problem(
        "found an expression, allowed beside `pushed`: a number, since the scheduler says how many "
        "hosts it needs");
}

}  // namespace

void read_pushed(const json::Field& field, std::optional<model::PushedPolicy>& out) {
  model::PushedPolicy policy;
  if (field.object([&](json::Object& o) { read_policy(o, policy); })) out = policy;
}

void check_pushed(json::Object& pool, model::PoolPolicy& out) {
  const json::Field pushed = pool.may("pushed"), readiness = pool.may("readiness");
  if (!pushed.present()) return;
  for (const Refused& refused : kRefused)
    pool.may(refused.key)
        .problem("it is not allowed beside `pushed`, because " + std::string(refused.why) +
                 ": remove one of the two");
  check_bound(pool.may("min"), out.sizes.texts.min);
  check_bound(pool.may("max"), out.sizes.texts.max);
  if (out.readiness == model::Readiness::kAgent)
    written(readiness, pushed)
        .problem(
            "a pool with `pushed` needs readiness ssh, cloud or reported: with agent its hosts "
            "would run jobs of hostler beside the work of the scheduler");
  if (!out.pushed || out.readiness != model::Readiness::kReported) return;
  const Duration until_lost = out.pushed->starting + out.pushed->disconnected;
  const json::Field boot_timeout = pool.may("boot_timeout");
  boot_timeout.problem(
      "it is not allowed beside `pushed` with readiness reported: it is starting and disconnected "
      "together, " +
      exact_duration(until_lost) + ": remove it");
  out.boot_timeout = until_lost;
}

}  // namespace hostler::config
