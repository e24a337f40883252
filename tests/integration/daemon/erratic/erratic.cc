// erratic - a cloud that is a file, with a driver that dies or hangs by chance. See README.md.
#include <hostler/driver.hpp>
#include <hostler/json_object.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cloud.h"
#include "fate.h"

namespace hostler::erratic {
namespace {

using driver::str;
using driver::view;

constexpr const char* kSchema = R"json({"type": "object", "required": ["folder"]})json";

Settings read_settings(const std::string& config) {
  rapidjson::Document document;
  auto object = driver::JsonObject::parse(config, document);
  Settings out;
  out.folder = object.path("folder", "");
  out.seed = static_cast<std::uint64_t>(object.integer("seed", 1, 0, INT64_MAX));
  out.deaths = object.probability("deaths");
  out.hangs = object.probability("hangs");
  object.refuse_unknown_keys();
  return out;
}

std::string text(const hostler_str& from) { return std::string(view(from)); }

/// Of all that says which machine is wanted, and how to log in to it.
std::string digest(const hostler_create_req& request) {
  std::string all;
  const auto add = [&](const hostler_str& field) { all.append(view(field)).push_back('\0'); };
  for (const auto* field : {&request.idempotency_key, &request.host_instance_id, &request.owner,
                            &request.type->provider_type, &request.region, &request.zone,
                            &request.image_id, &request.name_hint, &request.ssh_host_key_private,
                            &request.ssh_host_key_public, &request.remote_user})
    add(*field);
  for (std::size_t i = 0; i < request.n_ssh_public_keys; ++i) add(request.ssh_public_keys[i]);
  for (std::size_t i = 0; i < request.n_tags; ++i)
    add(request.tags[i].key), add(request.tags[i].value);
  if (request.user_data != nullptr)
    all.append(reinterpret_cast<const char*>(request.user_data->bytes), request.user_data->n_bytes);
  return std::to_string(std::hash<std::string>()(all));
}

void emit(const Machine& machine, hostler_op* op) {
  auto out = driver::instance_record();
  std::vector<hostler_kv> tags;
  for (const auto& [name, value] : machine.tags) {
    tags.push_back({str(name), str(value)});
    if (name == "hostler-set") out.set_id = str(value);
    if (name == "hostler-owner") out.owner = str(value);
  }
  out.id = str(machine.id);
  out.idempotency_key = str(machine.key);
  out.tags = tags.data();
  out.n_tags = tags.size();
  out.market = HOSTLER_MARKET_ON_DEMAND;
  out.state = machine.ended ? HOSTLER_STATE_GONE : HOSTLER_STATE_PENDING;
  driver::emit(op, out);
}

bool is_asked_for(const Machine& machine, const hostler_list_req& request) {
  for (std::size_t i = 0; i < request.n_tag_filter; ++i) {
    const auto tag = machine.tags.find(text(request.tag_filter[i].key));
    if (tag == machine.tags.end() || tag->second != view(request.tag_filter[i].value)) return false;
  }
  bool asked = request.n_ids == 0;
  for (std::size_t i = 0; i < request.n_ids; ++i)
    asked = asked || view(request.ids[i]) == machine.id;
  return asked;
}

class Erratic {
 public:
  static driver::About about() {
    return {"erratic", "1.0", "test", "Apache-2.0", kSchema, HOSTLER_THREAD_CONCURRENT, 16};
  }
  Erratic(const hostler_host&, const hostler_set_config& config, hostler_op*)
      : settings_(read_settings(text(config.config_json))),
        cloud_(settings_.folder),
        set_(view(config.set_id)) {}

  void info(const hostler_set_info_req&, hostler_op* op) {
    auto out = driver::set_info_record();
    out.account_id = str("erratic");
    out.capabilities = HOSTLER_CAP_CREATE_TOKEN_NATIVE | HOSTLER_CAP_USER_DATA;
    out.list_consistency_ms = 1;
    driver::emit(op, out);
  }

  void create(const hostler_create_req& request, hostler_op* op) {
    const std::string key = text(request.idempotency_key);
    Fate fate(settings_, cloud_, "create", key);
    Machine wanted{.id = {}, .key = key, .digest = digest(request), .tags = {}};
    for (std::size_t i = 0; i < request.n_tags; ++i)
      wanted.tags[text(request.tags[i].key)] = view(request.tags[i].value);
    fate.at("before");
    const Machine machine = cloud_.create(wanted, text(request.host_instance_id), set_);
    fate.at("after");
    fate.announce("emitted");  // Not after the emit: the host is to have no time to read.
    emit(machine, op);
    fate.strike("emitted");
    cloud_.note({"emitted", machine.id});
  }

  void list(const hostler_list_req& request, hostler_op* op) {
    Fate fate(settings_, cloud_, "list", set_);
    fate.at("before");
    for (const Machine& machine : cloud_.machines())
      if (is_asked_for(machine, request)) emit(machine, op);
    fate.at("after");
  }

  void destroy(const hostler_destroy_req& request, hostler_op*) {
    const std::string id = text(request.id);
    Fate fate(settings_, cloud_, "destroy", id);
    fate.at("before");
    cloud_.destroy(id, text(request.expected_set_id));
    fate.at("after");
  }

  void set_tags(const hostler_set_tags_req&, hostler_op*) {}

 private:
  const Settings settings_;
  Cloud cloud_;
  const std::string set_;
};

}  // namespace
}  // namespace hostler::erratic

HOSTLER_REGISTER(hostler::erratic::Erratic)
