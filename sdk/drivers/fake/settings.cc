#include "settings.h"

#include <algorithm>
#include <hostler/driver.hpp>
#include <hostler/json_object.hpp>

namespace hostler::fake {
namespace {

using driver::JsonObject;

constexpr std::int64_t kCountMax = 1'000'000, kPriceMax = 1'000'000'000'000;

TypeSettings read_type(const Settings& settings, JsonObject json) {
  TypeSettings type;
  if (json.is_number("stock")) {
    type.stock = json.integer("stock", 0, 0, kCountMax);
  } else if (auto by_zone = json.object("stock")) {
    for (const std::string& zone : by_zone->keys()) {
      if (std::find(settings.zones.begin(), settings.zones.end(), zone) == settings.zones.end())
        by_zone->refuse(zone, "is not in `zones`");
      type.stock_in[zone] = by_zone->integer(zone.c_str(), 0, 0, kCountMax);
    }
  }
  type.group = json.text("group", "");
  type.price = json.integer("price", 0, 0, kPriceMax);
  type.spot_price = json.integer("spot_price", type.price / 3, 0, kPriceMax);
  type.vcpus = json.integer("vcpus", 0, 0, kCountMax);
  type.gpus = json.integer("gpus", 0, 0, kCountMax);
  type.gpu_kind = json.text("gpu_kind", "");
  type.gpu_memory_gib = json.integer("gpu_memory_gib", 0, 0, kCountMax);
  type.ram_gib = json.integer("ram_gib", 0, 0, kCountMax);
  type.scratch_gib = json.integer("scratch_gib", 0, 0, kCountMax);
  type.architecture = json.text("architecture", "x86_64");
  json.refuse_unknown_keys();
  return type;
}

void read_rate(Settings& out, JsonObject json) {
  out.calls_per_second = static_cast<double>(json.integer("per_second", 1, 1, kCountMax));
  out.burst = json.integer("burst", 1, 1, kCountMax);
  json.refuse_unknown_keys();
}

}  // namespace

const char* const kSchema = R"json({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "$defs": {
    "duration": {"type": "string", "pattern": "^[0-9]{1,7}(ms|s|m|h)$"},
    "count": {"type": "integer", "minimum": 0, "maximum": 1000000},
    "chance": {"type": "number", "minimum": 0, "maximum": 1},
    "price": {"type": "integer", "minimum": 0}
  },
  "properties": {
    "seed": {"type": "integer", "minimum": 0},
    "cloud": {"type": "string"},
    "clock": {"enum": ["real", "steps"]},
    "step": {"$ref": "#/$defs/duration"},
    "region": {"type": "string"},
    "currency": {"type": "string"},
    "zones": {"type": "array", "items": {"type": "string"}},
    "address": {"type": "string"},
    "ssh_port": {"type": "integer", "minimum": 1, "maximum": 65535},
    "types": {"type": "object", "additionalProperties": {
      "type": "object", "additionalProperties": false, "properties": {
        "stock": {"anyOf": [{"$ref": "#/$defs/count"},
                            {"type": "object", "additionalProperties": {"$ref": "#/$defs/count"}}]},
        "group": {"type": "string"},
        "price": {"$ref": "#/$defs/price"},
        "spot_price": {"$ref": "#/$defs/price"},
        "vcpus": {"$ref": "#/$defs/count"}, "gpus": {"$ref": "#/$defs/count"},
        "gpu_kind": {"type": "string"}, "gpu_memory_gib": {"$ref": "#/$defs/count"},
        "ram_gib": {"$ref": "#/$defs/count"}, "scratch_gib": {"$ref": "#/$defs/count"},
        "architecture": {"type": "string"}}}},
    "quotas": {"type": "object", "additionalProperties": {"$ref": "#/$defs/count"}},
    "instances_max": {"$ref": "#/$defs/count"},
    "latency": {"$ref": "#/$defs/duration"},
    "latency_spread": {"$ref": "#/$defs/duration"},
    "boot": {"$ref": "#/$defs/duration"},
    "boot_spread": {"$ref": "#/$defs/duration"},
    "boot_failures": {"$ref": "#/$defs/chance"},
    "late_shortages": {"$ref": "#/$defs/chance"},
    "rate": {"type": "object", "additionalProperties": false, "properties": {
      "per_second": {"type": "integer", "minimum": 1},
      "burst": {"type": "integer", "minimum": 1}}},
    "reclaim": {"$ref": "#/$defs/duration"},
    "reclaim_notice": {"$ref": "#/$defs/duration"},
    "price_interval": {"$ref": "#/$defs/duration"},
    "price_spread": {"$ref": "#/$defs/chance"},
    "consistency": {"$ref": "#/$defs/duration"},
    "errors": {"$ref": "#/$defs/chance"},
    "lost_requests": {"$ref": "#/$defs/chance"},
    "lost_replies": {"$ref": "#/$defs/chance"}
  }
})json";

Settings read_settings(const std::string& text) {
  rapidjson::Document document;
  JsonObject json = JsonObject::parse(text, document);
  Settings out;
  out.seed = static_cast<std::uint64_t>(json.integer("seed", 1, 0, INT64_MAX));
  out.cloud = json.text("cloud", "");
  out.clock_of_steps = json.choice("clock", {"real", "steps"}, 0) == 1;
  out.step_ms = json.duration_ms("step", 1000);
  out.region = json.text("region", "fake");
  out.currency = json.text("currency", "USD");
  out.zones = json.texts("zones");
  if (out.zones.empty()) out.zones = {"z1"};
  out.address = json.text("address", "192.0.2.1");
  out.ssh_port = json.integer("ssh_port", 22, 1, 65535);
  if (auto types = json.object("types"))
    for (const std::string& name : types->keys())
      out.types[name] = read_type(out, *types->object(name.c_str()));
  if (auto quotas = json.object("quotas"))
    for (const std::string& group : quotas->keys())
      out.quotas[group] = quotas->integer(group.c_str(), 0, 0, kCountMax);
  out.instances_max = json.integer("instances_max", 0, 0, kCountMax);
  out.latency_ms = json.duration_ms("latency", 0);
  out.latency_spread_ms = json.duration_ms("latency_spread", 0);
  out.boot_ms = json.duration_ms("boot", 0);
  out.boot_spread_ms = json.duration_ms("boot_spread", 0);
  out.boot_failures = json.probability("boot_failures");
  out.late_shortages = json.probability("late_shortages");
  if (auto rate = json.object("rate")) read_rate(out, *std::move(rate));
  out.reclaim_ms = json.duration_ms("reclaim", 0);
  out.reclaim_notice_ms = json.duration_ms("reclaim_notice", 0);
  out.price_interval_ms = json.duration_ms("price_interval", 0);
  out.price_spread = json.probability("price_spread");
  out.consistency_ms = json.duration_ms("consistency", 0);
  out.errors = json.probability("errors");
  out.lost_requests = json.probability("lost_requests");
  out.lost_replies = json.probability("lost_replies");
  json.refuse_unknown_keys();
  return out;
}

}  // namespace hostler::fake
