// The dump: the views of all that there is, and what only it shows.
#include "core/api/view_members.h"
#include "core/api/views_json.h"

namespace hostler::api {
namespace {

/// `"key": [ ... ]`
template <class T, class Write>
void write_list(json::Writer& w, std::string_view key, const std::vector<T>& list, Write write) {
  w.key(key).begin_array();
  for (const T& one : list) write(w, one);
  w.end_array();
}

void write_target(json::Writer& w, const model::TargetView& view) {
  w.begin_object().member("pool", view.pool).member("held", view.is_held);
  w.key("numbers").begin_array();
  for (const auto& [bound, number, because] : view.numbers) {
    w.begin_object().member("bound", bound).member("number", number);
    w.member("because", because).end_object();
  }
  w.end_array().end_object();
}

void write_work_count(json::Writer& w, const model::WorkCountView& view) {
  w.begin_object().member("kind", view.kind).key("states").begin_object();
  for (const auto& [state, count] : view.states) w.member(state, count);
  w.end_object().end_object();
}

void write_placed(json::Writer& w, const model::PlacedView& view) {
  w.begin_object().member("work", view.work.text());
  if (view.attempt != 0) w.member("attempt", view.attempt);
  w.member("host", view.host.text()).key("needs");
  write_resources(w, view.needs);
  if (view.started) member_time(w, "started", *view.started);
  w.member("collecting", view.collecting).end_object();
}

void write_call(json::Writer& w, const model::CallView& view) {
  w.begin_object().member("of", view.of).member("call", view.call);
  member_text(w, "about", view.about);
  if (view.since) member_time(w, "since", *view.since);
  w.end_object();
}

void write_timer(json::Writer& w, const model::TimerView& view) {
  w.begin_object();
  member_time(w, "at", view.at);
  w.member("of", view.of).member("what", view.what);
  member_text(w, "about", view.about);
  w.end_object();
}

}  // namespace

void write_dump(json::Writer& w, const DumpView& dump) {
  w.begin_object().member("version", dump.version);
  member_time(w, "time", dump.time);
  w.member("revision", dump.revision);
  member_texts(w, "conditions", dump.conditions);
  write_list(w, "pools", dump.pools, write_pool);
  write_list(w, "targets", dump.parts.targets, write_target);
  write_list(w, "sets", dump.sets, write_set);
  write_list(w, "instances", dump.instances, write_instance);
  write_list(w, "work", dump.parts.work, write_work_count);
  write_list(w, "placed", dump.parts.placed, write_placed);
  write_list(w, "gates", dump.gates, write_gate);
  write_list(w, "calls", dump.parts.calls, write_call);
  write_list(w, "timers", dump.parts.timers, write_timer);
  if (!dump.snapshot.empty()) w.key("snapshot").raw(dump.snapshot);
  w.end_object();
}

}  // namespace hostler::api
