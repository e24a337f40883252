#include "core/api/push_codec.h"

#include <limits>
#include <string>
#include <vector>

#include "core/api/view_members.h"
#include "core/base/units.h"
#include "core/json/reader.h"
#include "core/pushed/check_push.h"

namespace hostler::api {
namespace {

using json::Field;
using json::Object;
using json::Writer;

constexpr std::int64_t kNumberMax = std::numeric_limits<std::int64_t>::max();
/// So many slots can all tasks of a push together ask for.
constexpr std::int64_t kGroupMax = std::int64_t{model::kPushedTasksMax} * model::kSlotsMax;
/// Of the JSON of one task: each byte of its two names may be an escape of six.
constexpr std::size_t kTaskBytesMax = 8192;
/// Agents have up to four values each, and groups one. Tasks are read one at a time.
constexpr std::uint32_t kValuesMax = 4 * model::kPushedAgentsMax + model::kPushedTasksMax + 100;

/// Names are the scheduler's own. They may have any characters but U+0000, which not all databases
/// take.
constexpr json::TextRule kName{.bytes_max = model::kPushedNameMax, .bytes_min = 1};

void read_agent(Object& o, model::PushedAgent& agent) {
  o.need("name").text(agent.name, kName);
  const Field used = o.may("used_slots"), idle = o.may("idle");
  std::int32_t slots = 0;
  const bool has_slots = used.integer(slots, 0, model::kSlotsMax);
  const bool has_idle = idle.boolean(agent.is_idle);
  if (!used.present() && !idle.present())
    Field(o.value(), o.problems())
        .problem("found neither used_slots nor idle, needed: one of them");
  if (has_slots && has_idle && slots > 0 && agent.is_idle)
    idle.problem("found true, but used_slots is " + std::to_string(slots) +
                 ": an idle agent has none");
  if (has_slots && !has_idle) agent.is_idle = slots == 0;
}

bool read_task(const Field& field, std::vector<model::PushedTask>& out) {
  model::PushedTask task;
  field.object([&](Object& o) {
    o.need("id").text(task.id, kName);
    o.need("slots").integer(task.slots, 0, model::kSlotsMax);
    o.may("group").text(task.group, kName);
  });
  out.push_back(std::move(task));
  return true;  // The next may be wrong, too.
}

void read_members(Object& o, model::Push& push) {
  o.need("session").text(push.session, kName);
  o.need("sequence").integer(push.sequence, 1, kNumberMax);
  const Field seen = o.may("seen");
  if (seen.present() && !seen.value()->is(json::Kind::kNull))
    seen.integer(push.seen, 0, kNumberMax);
  o.need("agents").each(model::kPushedAgentsMax, [&](const Field& agent) {
    agent.object([&](Object& its) { read_agent(its, push.agents.emplace_back()); });
  });
  if (o.exactly_one({"tasks", "desired_new"}) == "desired_new") {
    std::int64_t wanted = 0;
    if (o.may("desired_new").integer(wanted, 0, model::kSlotsMax)) push.desired_new = wanted;
  } else {
    o.may("tasks").each(model::kPushedTasksMax, [](const Field&) {});
  }
  o.may("group_max").members(model::kPushedTasksMax, [&](std::string_view group, const Field& max) {
    max.integer(push.group_max[std::string(group)], 0, kGroupMax);
  });
}

void write_texts(Writer& w, const char* key, const std::vector<std::string>& texts) {
  w.key(key).begin_array();
  for (const auto& text : texts) w.value(text);
  w.end_array();
}

void write_never_fits(Writer& w, const std::vector<model::NeverFits>& tasks, bool with_ids) {
  w.key("never_fits").begin_array();
  for (const auto& task : tasks) {
    w.begin_object();
    if (with_ids) w.member("id", task.id);
    w.key("slots_that_would_do").begin_array();
    for (const auto slots : task.slots_that_would_do) w.value(slots);
    w.end_array().end_object();
  }
  w.end_array();
}

void write_launch_error(Writer& w, const model::LaunchErrorView& error) {
  w.key("launch_error").begin_object();
  member_time(w, "since", error.since);
  member_time(w, "until", error.until);
  w.member("refusals", error.refusals).member("message", error.message).end_object();
}

void write_tasks(Writer& w, const std::vector<model::PushedTask>& tasks, bool with_ids) {
  w.key("tasks").begin_array();
  for (const auto& task : tasks) {
    w.begin_object();
    if (with_ids) w.member("id", task.id);
    w.member("slots", task.slots);
    member_text(w, "group", task.group);
    w.end_object();
  }
  w.end_array();
}

void write_host(Writer& w, const model::PushedHostView& host) {
  w.begin_object().member("instance", host.instance.text());
  member_text(w, "agent", host.agent);
  w.member("state", host.state);
  member_time(w, "since", host.since);
  w.member("slots", host.slots).member("going", host.is_going);
  w.member("acknowledged", host.is_acknowledged);
  member_text(w, "reason", host.reason);
  w.end_object();
}

/// Of the last push.
void write_pusher(Writer& w, const model::ScalingInfoView& view) {
  if (view.pusher.principal.empty()) return;
  w.member("principal", view.pusher.principal).member("session", view.pusher.session);
  w.member("sequence", view.pusher.sequence).member("answer", view.pusher.answer);
  if (view.pusher.age) w.member("age", exact_duration(*view.pusher.age));
}

}  // namespace

Result<model::Push> read_push(std::string_view json) {
  model::Push push;
  const auto read_one = [&](const Field& task) { return read_task(task, push.tasks); };
  HOSTLER_TRY(json::read_object(json, {.bytes_max = model::kPushBytesMax, .values_max = kValuesMax},
                                {"tasks", model::kPushedTasksMax, kTaskBytesMax, read_one},
                                [&](Object& o) { read_members(o, push); }));
  HOSTLER_TRY(pushed::check_push(push));
  return push;
}

void write_push_answer(Writer& w, const model::PushAnswer& answer) {
  w.begin_object().member("answer", answer.answer);
  write_texts(w, "going", answer.going);
  write_texts(w, "unknown_agents", answer.unknown_agents);
  write_never_fits(w, answer.never_fits, /*with_ids=*/true);
  w.end_object();
}

void write_scaling_info(Writer& w, const model::ScalingInfoView& view, bool with_ids) {
  w.begin_object().member("pool", view.pool);
  write_pusher(w, view);
  member_text(w, "problem", view.problem);
  w.key("slots_per_instance").begin_array();
  for (const auto slots : view.slots_per_instance) w.value(slots);
  w.end_array().member("current_slots", view.current_slots);
  write_texts(w, "instance_types", view.instance_types);
  if (view.launch_error) write_launch_error(w, *view.launch_error);
  write_tasks(w, view.tasks, with_ids);
  if (view.desired_new) w.member("desired_new", *view.desired_new);
  write_never_fits(w, view.never_fits, with_ids);
  write_texts(w, "unknown_agents", view.unknown_agents);
  w.key("instances").begin_array();
  for (const auto& host : view.instances) write_host(w, host);
  w.end_array().end_object();
}

}  // namespace hostler::api
