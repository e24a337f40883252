#include "config.h"

namespace hostler::lxd {

const char* const kConfigSchema = R"json({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "if": {"not": {"required": ["socket"]}},
  "then": {"required": ["url"]},
  "properties": {
    "socket": {"type": "string", "pattern": "^/"},
    "url": {"type": "string", "pattern": "^https://[^/]+$"},
    "server_certificate_sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    "ca_file": {"type": "string", "pattern": "^/"},
    "project": {"type": "string", "minLength": 1},
    "region": {"type": "string", "minLength": 1},
    "image": {"type": "string"},
    "profiles": {"type": "array", "items": {"type": "string"}},
    "config": {"type": "object", "additionalProperties": {"type": "string"}},
    "limits": {"enum": ["type", "none"]},
    "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
    "sizes": {"type": "array", "items": {
      "type": "object",
      "additionalProperties": false,
      "required": ["name", "vcpus", "ram"],
      "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 63},
        "vcpus": {"type": "integer", "minimum": 1},
        "ram": {"type": "string"},
        "scratch": {"type": "string"},
        "price": {"type": "number", "minimum": 0}
      }
    }}
  }
})json";

}  // namespace hostler::lxd
