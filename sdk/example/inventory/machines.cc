#include "machines.h"

#include <fstream>
#include <hostler/driver.hpp>
#include <hostler/json_object.hpp>
#include <iterator>

namespace inventory {
namespace {

using hostler::driver::JsonObject;
constexpr std::int64_t kManyCpus = 1 << 20;

Machine read_machine(JsonObject& json) {
  Machine out;
  out.name = json.text("name", "");
  out.address = json.text("address", "");
  if (out.name.empty()) json.refuse("name", "is needed");
  if (out.address.empty()) json.refuse("address", "is needed");
  out.port = json.integer("port", 22, 1, 65535);
  out.vcpus = json.integer("vcpus", 1, 1, kManyCpus);
  out.ram = json.bytes("ram");
  out.condition = static_cast<Condition>(json.choice("state", {"free", "broken", "lent"}, 0));
  out.text = json.text("text", "");
  out.host_key = json.text("host_key", "");
  json.refuse_unknown_keys();
  return out;
}

Machines read_list(JsonObject& json) {
  Machines out;
  for (JsonObject& one : json.objects("machines")) {
    const Machine machine = read_machine(one);
    if (!out.emplace(machine.name, machine).second)
      one.refuse("name", "'" + machine.name + "' is there a second time: each name once");
  }
  return out;
}

}  // namespace

Settings read_settings(const std::string& config_json) {
  rapidjson::Document document;
  JsonObject json = JsonObject::parse(config_json, document);
  Settings out;
  if (json.has("machines_file")) out.machines_file = json.path("machines_file", "");
  out.machines = read_list(json);
  if (out.machines_file.empty() == out.machines.empty())
    json.refuse("machines", "or `machines_file` is needed, and not both");
  out.state_file = json.path("state_file", "");
  if (out.state_file.empty()) json.refuse("state_file", "is needed");
  out.remote_user = json.text("remote_user", "root");
  out.deploy_ms = json.duration_ms("deploy_time", 20 * 60 * 1000);
  json.refuse_unknown_keys();
  return out;
}

Machines read_machines(const Settings& settings) {
  if (settings.machines_file.empty()) return settings.machines;
  rapidjson::Document document;
  const std::string text = read_file(settings.machines_file);
  JsonObject json = JsonObject::parse(text, document, "machines_file");
  Machines out = read_list(json);
  json.refuse_unknown_keys();
  return out;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string out(std::istreambuf_iterator<char>(file), {});
  if (!file) throw hostler::driver::Error(HOSTLER_E_TRANSIENT, path + " cannot be read");
  return out;
}

}  // namespace inventory
