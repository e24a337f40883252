#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "folder/fields.h"

namespace hostler::local {

using Tags = std::map<std::string, std::string>;

/// What an instance is, from its create to its end.
struct Record {
  std::string
      id;  ///< "i-" and 16 hex digits of the idempotency key's hash: also its folder's name.
  std::string idempotency_key, host_instance_id, set_id, owner, name;
  std::string provider_type, image_id, region, zone;
  std::string account, address;
  std::string host_key;  ///< "ssh-ed25519 AAAA...": the key that it was made with.
  std::string digest;    ///< Of the whole create request.
  std::int64_t port = 0, epoch = 0, market = 0, created_unix_ns = 0;
  std::int64_t price_micros_per_hour = -1;  ///< As the request had it.

  std::string text() const;
  /// Throws std::runtime_error where the text is none of a record.
  static Record parse(const std::string& text);
};

/// 16 hex digits. Not for secrets: it is quick and anyone can compute it.
std::string hash_of(const std::string& text);
std::string id_of_key(const std::string& idempotency_key);
/// Whether it has the form of an id. What comes from outside becomes a path only if it has.
bool is_id(const std::string& text);

std::string tags_text(const Tags& tags);
Tags parse_tags(const std::string& text);

}  // namespace hostler::local
