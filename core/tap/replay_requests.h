#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model/cloud_records.h"
#include "core/tap/recording.h"

/// Requests for a replay, of what was recorded of them. Missing values are those of a small
/// machine. Pure.
namespace hostler::tap {

/// The set of all instances of replays: not the recorded one, whose daemon would take them.
inline constexpr const char* kReplaySet = "hostler-replay";

/// New names for those of the recording, and what a replay gives to every machine.
struct Renamed {
  std::map<std::string, std::string> ids;   ///< Of instances, by the recorded one.
  std::map<std::string, std::string> keys;  ///< Of creates, by the recorded fingerprint.
  std::string login_key;                    ///< "ssh-ed25519 AAAA..."
  std::string host_key_private, host_key_public;

  /// nullopt: the replay has no such instance.
  [[nodiscard]] std::optional<std::string> id(const json::Value& recorded) const;
};

model::InstanceType type_of(const json::Value& request);
/// `key`: its idempotency key.
model::CreateRequest create_of(const json::Value& request, const Renamed& names,
                               const std::string& key);
/// Of the tags, those that say nothing of the recorded site.
model::Tags tags_of(const json::Value& tags, const std::string& key);
model::OfferingsQuery offerings_of(const json::Value& request);
model::ImageQuery image_of(const json::Value& request);
std::vector<std::string> texts_of(const json::Value& list);

}  // namespace hostler::tap
