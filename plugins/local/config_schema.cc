#include "config.h"

namespace hostler::local {

const char* const kConfigSchema = R"json({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "required": ["root"],
  "$defs": {
    "path": {"type": "string", "pattern": "^/"},
    "duration": {"type": "string", "pattern": "^[0-9]{1,7}(ms|s|m|h)$"},
    "count": {"type": "integer", "minimum": 0, "maximum": 1000000},
    "failures": {
      "type": "array",
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["class"],
        "properties": {
          "class": {"enum": ["INTERNAL", "INVALID", "UNSUPPORTED", "CONFLICT", "AUTH",
                             "RATE_LIMIT", "QUOTA", "CAPACITY", "TRANSIENT", "TIMEOUT"]},
          "count": {"$ref": "#/$defs/count"},
          "type": {"type": "string"},
          "scope": {"type": "array",
                    "items": {"enum": ["TYPE", "GROUP", "ZONE", "REGION", "MARKET", "OPERATION",
                                       "SUBNET", "ACCOUNT"]}},
          "retry_after": {"$ref": "#/$defs/duration"},
          "outcome": {"enum": ["none", "unknown"]},
          "message": {"type": "string"}
        }
      }
    }
  },
  "properties": {
    "root": {"$ref": "#/$defs/path"},
    "region": {"type": "string"},
    "currency": {"type": "string"},
    "zones": {"type": "array", "items": {"type": "string"}},
    "port": {"type": "integer", "minimum": 1, "maximum": 65535},
    "instances_max": {"$ref": "#/$defs/count"},
    "boot_delay": {"$ref": "#/$defs/duration"},
    "sshd": {"$ref": "#/$defs/path"},
    "ssh_keygen": {"$ref": "#/$defs/path"},
    "supervisor": {"$ref": "#/$defs/path"},
    "confinement": {"enum": ["auto", "namespaces", "subreapers"]},
    "types": {
      "type": "object",
      "additionalProperties": {
        "type": "object",
        "additionalProperties": false,
        "properties": {
          "stock": {"anyOf": [
            {"$ref": "#/$defs/count"},
            {"type": "object", "additionalProperties": {"$ref": "#/$defs/count"}}]},
          "vcpus": {"$ref": "#/$defs/count"},
          "gpus": {"$ref": "#/$defs/count"},
          "ram_gib": {"$ref": "#/$defs/count"},
          "scratch_gib": {"$ref": "#/$defs/count"},
          "architecture": {"type": "string"},
          "prices": {
            "type": "array",
            "items": {
              "type": "object",
              "additionalProperties": false,
              "required": ["micros_per_hour"],
              "properties": {
                "from": {"type": "string", "format": "date-time"},
                "zone": {"type": "string"},
                "market": {"enum": ["any", "on_demand", "spot"]},
                "micros_per_hour": {"type": "integer", "minimum": 0}
              }
            }
          }
        }
      }
    },
    "dials": {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "create_errors": {"$ref": "#/$defs/failures"},
        "list_errors": {"$ref": "#/$defs/failures"},
        "destroy_errors": {"$ref": "#/$defs/failures"},
        "create_reply_lost": {"$ref": "#/$defs/count"},
        "create_delay": {"$ref": "#/$defs/duration"},
        "list_delay": {"$ref": "#/$defs/duration"},
        "destroy_delay": {"$ref": "#/$defs/duration"},
        "host_key_changes": {"enum": ["never", "before_sshd", "after_sshd"]},
        "host_key_changes_after": {"$ref": "#/$defs/duration"},
        "interruptions": {"enum": ["none", "watch", "list", "both"]},
        "sshd_starts": {"anyOf": [{"const": "never"}, {"$ref": "#/$defs/duration"}]}
      }
    }
  }
})json";

}  // namespace hostler::local
