#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "folder/fields.h"

namespace hostler::local {

using Tags = std::map<std::string, std::string>;

/// The properties of an instance that never change.
struct Record {
  /// "i-" and 16 hex digits of the hash of the idempotency key. Also the name of the folder.
  std::string id;
  std::string idempotency_key, host_instance_id, set_id, owner, name;
  std::string provider_type, image_id, region, zone;
  std::string account, address;
  std::string host_key;  ///< "ssh-ed25519 AAAA...": the original host key.
  std::string digest;    ///< Hash of the whole create request.
  std::int64_t port = 0, market = 0, created_unix_ns = 0;
  std::int64_t price_micros_per_hour = -1;  ///< From the create request.

  std::string text() const;
  /// Throws std::runtime_error if `text` is not a record.
  static Record parse(const std::string& text);
};

/// A hash as 16 hex digits. Not for secrets: it is fast and not cryptographic.
std::string hash_of(const std::string& text);
std::string id_of_key(const std::string& idempotency_key);
/// True if `text` has the form of an id. Check it before text of others becomes part of a path.
bool is_id(const std::string& text);

std::string tags_text(const Tags& tags);
Tags parse_tags(const std::string& text);

}  // namespace hostler::local
