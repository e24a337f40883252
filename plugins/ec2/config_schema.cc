#include "config.h"

namespace hostler::ec2 {

const char* const kConfigSchema = R"json({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "required": ["region"],
  "properties": {
    "region": {"type": "string", "pattern": "^[a-z0-9-]+$"},
    "fips": {"type": "boolean"},
    "endpoint": {"type": "string", "pattern": "^https?://[^/]+$"},
    "sts_endpoint": {"type": "string", "pattern": "^https?://[^/]+$"},
    "metadata_endpoint": {"type": "string", "pattern": "^https?://[^/]+$"},
    "ca_file": {"type": "string", "pattern": "^/"},
    "role_arn": {"type": "string", "pattern": "^arn:"},
    "role_external_id": {"type": "string"},
    "image": {"type": "string"},
    "key_name": {"type": "string"},
    "instance_profile": {"type": "string"},
    "subnets": {"type": "array", "items": {"type": "string", "pattern": "^subnet-"}},
    "security_groups": {"type": "array", "items": {"type": "string", "pattern": "^sg-"}},
    "volume_type": {"type": "string", "minLength": 1},
    "encrypted": {"type": "boolean"},
    "kms_key": {"type": "string"},
    "metadata_hop_limit": {"type": "integer", "minimum": 1, "maximum": 64},
    "types": {"type": "array", "items": {"type": "string"}, "maxItems": 100},
    "prices_file": {"type": "string", "pattern": "^/"},
    "quota_groups": {"type": "object", "additionalProperties": {"type": "string"}},
    "list_consistency": {"type": "string"},
    "spot_price_interval": {"type": "string"},
    "interruption_interval": {"type": "string"}
  }
})json";

}  // namespace hostler::ec2
