// The views of instance sets.
#include "core/api/view_members.h"
#include "core/api/views_json.h"

namespace hostler::api {
namespace {

void write_driver(json::Writer& w, const model::DriverView& view) {
  w.key("driver").begin_object().member("name", view.name);
  member_text(w, "version", view.version);
  member_text(w, "sandbox", view.sandbox);
  member_text(w, "memory_limit", view.memory_limit);
  member_text(w, "cpu_limit", view.cpu_limit);
  w.member("state", view.opening.empty() ? view.state : view.state + ": " + view.opening);
  w.member("crashes", view.crashes);
  member_text(w, "last_crash", view.last_crash);
  w.member("broken_rules", view.broken_rules);
  member_text(w, "last_broken_rule", view.last_broken_rule);
  member_text(w, "pending", view.pending);
  w.member("draining", view.draining);
  w.end_object();
}

void write_crash(json::Writer& w, const model::GateRecord& gate) {
  const model::DriverCrash& crash = *gate.crash;
  w.begin_object().member("call", crash.call);
  member_text(w, "type", gate.type);
  member_text(w, "zone", gate.zone);
  if (gate.market) w.member("market", model::to_string(*gate.market));
  member_text(w, "pool", gate.pool);
  if (gate.instance.value != 0) w.member("instance", gate.instance.text());
  w.member("driver", crash.driver.name);
  member_text(w, "version", crash.driver.version);
  w.member("ending", crash.ending);
  member_text(w, "output", crash.output);
  w.member("failures", gate.failures);
  if (gate.until.us != 0) {
    member_time(w, "until", gate.until);
    w.member("gate", gate.key);
  }
  w.end_object();
}

void write_image(json::Writer& w, const model::ImageView& view) {
  w.begin_object().member("query", view.query);
  member_text(w, "id", view.image.id);
  member_text(w, "name", view.image.name);
  member_text(w, "owner", view.image.owner);
  member_text(w, "architecture", view.image.architecture);
  member_time(w, "created", view.image.created);
  member_time(w, "found", view.found);
  member_text(w, "error", view.error);
  w.end_object();
}

void write_offerings(json::Writer& w, const model::OfferingsView& view) {
  w.key("offerings").begin_object().member("types", view.types);
  member_time(w, "fetched", view.fetched);
  member_text(w, "problem", view.problem);
  member_text(w, "ignored", view.ignored);
  w.end_object();
}

void write_leftovers(json::Writer& w, const model::LeftoversView& view) {
  w.begin_object().member("rule", view.rule).member("found", view.found);
  w.member("confirmed", view.confirmed).member("destroying", view.destroying);
  member_time(w, "listed", view.listed);
  member_text(w, "error", view.error);
  w.key("things").begin_array();
  for (const auto& thing : view.things) {
    w.begin_object().member("type", thing.type).member("id", thing.id);
    member_text(w, "instance", thing.instance);
    member_time(w, "since", thing.since);
    w.member("confirmed", thing.confirmed).member("destroying", thing.destroying);
    member_text(w, "error", thing.error);
    w.end_object();
  }
  w.end_array().end_object();
}

}  // namespace

void write_set(json::Writer& w, const model::SetView& view) {
  w.begin_object().member("name", view.name).member("open", view.open);
  w.member("foreign_owner", view.foreign_owner);
  if (view.driver) write_driver(w, *view.driver);
  member_text(w, "account", view.account);
  member_text(w, "region", view.region);
  member_text(w, "jump_host", view.jump_host);
  if (view.reported) {
    w.key("reported").begin_object();
    member_text(w, "account", view.reported->account);
    member_text(w, "region", view.reported->region);
    w.end_object();
  }
  w.member("list", view.list).key("missing").begin_array();
  for (const auto id : view.missing) w.value(id.text());
  w.end_array();
  if (view.doubt) {
    w.key("doubt").begin_object();
    member_time(w, "since", *view.doubt);
    w.member("asking", view.asking).end_object();
  }
  if (view.strangers) {
    w.key("unknown_instances").begin_object().member("count", view.strangers->count);
    w.key("ids").begin_array();
    for (const auto& id : view.strangers->ids) w.value(id);
    w.end_array();
    if (view.strangers->doubted) member_time(w, "doubted_since", *view.strangers->doubted);
    w.end_object();
  }
  if (view.partition) {
    w.key("partition").begin_object();
    member_time(w, "since", *view.partition);
    w.end_object();
  }
  if (!view.crashes.empty()) {
    w.key("crashes").begin_array();
    for (const auto& gate : view.crashes) write_crash(w, gate);
    w.end_array();
  }
  if (!view.images.empty()) {
    w.key("images").begin_array();
    for (const auto& image : view.images) write_image(w, image);
    w.end_array();
  }
  if (view.offerings) write_offerings(w, *view.offerings);
  if (view.leftovers) write_leftovers(w.key("leftovers"), *view.leftovers);
  if (view.watch) {
    w.key("interruption_watch").begin_object().member("stands", view.watch->stands);
    member_text(w, "error", view.watch->error);
    w.member("ignored", view.watch->ignored).end_object();
  }
  member_text(w, "creates_refused", view.creates_refused);
  member_text(w, "problem", view.problem);
  member_texts(w, "conditions", view.conditions);
  w.end_object();
}

}  // namespace hostler::api
