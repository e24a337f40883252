#include "config.h"

namespace hostler::lxd {

const char* const kConfigSchema = R"json({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "oneOf": [{"required": ["socket"]}, {"required": ["url"]}],
  "properties": {
    "socket": {"type": "string", "pattern": "^/"},
    "url": {"type": "string", "pattern": "^https://[^/]+$"},
    "server_certificate_sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    "ca_file": {"type": "string", "pattern": "^/"},
    "project": {"type": "string", "minLength": 1},
    "region": {"type": "string", "minLength": 1},
    "image": {"type": "string"},
    "remote_user": {"type": "string", "minLength": 1},
    "profiles": {"type": "array", "items": {"type": "string"}},
    "config": {"type": "object", "additionalProperties": {"type": "string"}},
    "limits": {"enum": ["type", "none"]}
  }
})json";

}  // namespace hostler::lxd
