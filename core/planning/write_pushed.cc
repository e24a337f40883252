#include <string>

#include "core/base/units.h"
#include "core/planning/writers.h"

/// How an outside scheduler sizes a pool, by the keys of the configuration, and its last push.
namespace hostler::planning {
namespace {

void write_limit(json::Writer& w, const char* key, Duration limit) {
  w.member(key, limit > Duration::zero() ? exact_duration(limit) : std::string("off"));
}

}  // namespace

void write_pushed(json::Writer& w, const model::PushedPolicy& pushed) {
  w.key("pushed").begin_object();
  w.member("max_age", exact_duration(pushed.max_age));
  w.member("shrink_after", exact_duration(pushed.shrink_after));
  w.member("starting", exact_duration(pushed.starting));
  w.member("disconnected", exact_duration(pushed.disconnected));
  w.member("agent_name", model::to_string(pushed.agent_name));
  w.member("aux_per_agent", pushed.aux_per_agent);
  write_limit(w, "abandoned_after", pushed.abandoned_after);
  write_limit(w, "lifetime_max", pushed.lifetime_max);
  w.end_object();
}

void write_push(json::Writer& w, const LastPush& last) {
  const model::Push& push = last.push;
  w.key("push").begin_object().member("age", exact_duration(last.age));
  if (push.desired_new) {
    w.member("desired_new", *push.desired_new);
  } else {
    w.key("tasks").begin_array();
    for (const model::PushedTask& task : push.tasks) {
      w.begin_object().member("id", task.id).member("slots", task.slots);
      write_text(w, "group", task.group);
      w.end_object();
    }
    w.end_array();
  }
  if (!push.group_max.empty()) {
    w.key("group_max").begin_object();
    for (const auto& [group, max] : push.group_max) w.member(group, max);
    w.end_object();
  }
  w.end_object();
}

}  // namespace hostler::planning
