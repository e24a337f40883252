#include <string>

#include "core/base/units.h"
#include "core/planning/writers.h"

/// How a pool follows numbers from outside, by the keys of the configuration.
namespace hostler::planning {
namespace {

using model::ScalingRules;

/// An expression, or the number.
void write_bound(json::Writer& w, const char* key, const std::string& text,
                 const std::optional<std::int32_t>& number) {
  if (!text.empty())
    w.member(key, text);
  else if (number)
    w.member(key, *number);
}

void write_rules(json::Writer& w, const char* key, const ScalingRules& rules) {
  w.key(key).begin_object().member("window", exact_duration(rules.window));
  w.member("tolerance", rules.tolerance).key("policies").begin_array();
  for (const model::ScalingRate& rate : rules.policies)
    w.begin_object()
        .member(rate.is_percent ? "percent" : "hosts", rate.value)
        .member("per", exact_duration(rate.per))
        .end_object();
  w.end_array().end_object();
}

/// No plan goes by the arguments of the command, which may hold secrets.
void write_drain(json::Writer& w, const model::DrainPolicy& drain) {
  w.key("drain").begin_object();
  if (!drain.command.empty())
    w.key("command").begin_array().value(drain.command.front()).end_array();
  write_text(w, "quiet", drain.quiet);
  w.member("timeout", exact_duration(drain.timeout)).end_object();
}

}  // namespace

void write_sizes(json::Writer& w, const model::PoolSizes& sizes) {
  const model::BoundTexts& texts = sizes.texts;
  write_bound(w, "min", texts.min, sizes.min);
  write_bound(w, "max", texts.max, sizes.max);
  w.member("standby", sizes.standby);
  write_bound(w, "created_min", texts.created_min, sizes.created_min);
  write_bound(w, "created_max", texts.created_max, sizes.created_max);
  const bool has_created = sizes.created_min || sizes.created_max || !texts.created_min.empty() ||
                           !texts.created_max.empty();
  if (!has_created) w.member("stopped", sizes.stopped);  // Readers refuse both.
}

void write_scaling(json::Writer& w, const model::ScalingPolicy& scaling) {
  const model::ScalingPolicy usual;
  if (scaling == usual) return;
  w.key("scaling").begin_object();
  if (scaling.up != usual.up) write_rules(w, "up", scaling.up);
  if (scaling.down != usual.down) write_rules(w, "down", scaling.down);
  w.member("lifetime_min", exact_duration(scaling.lifetime_min));
  write_text(w, "rank", scaling.rank);
  if (scaling.drain) write_drain(w, *scaling.drain);
  w.end_object();
}

}  // namespace hostler::planning
