#include "instance.h"

#include <ctime>
#include <string_view>

#include "addresses.h"
#include "names.h"

namespace hostler::lxd {
namespace {

// Of the member status_code.
constexpr std::int64_t kStopped = 102, kRunning = 103, kPending = 105, kStarting = 106,
                       kStopping = 107, kAborting = 108, kFreezing = 109, kFrozen = 110,
                       kThawed = 111, kError = 112, kReady = 113;

std::uint32_t state_of(std::int64_t code, bool has_started) {
  switch (code) {
    case kStopped:  // the create is not done, or was left half-done
      return has_started ? HOSTLER_STATE_STOPPED : HOSTLER_STATE_PENDING;
    case kRunning:
    case kThawed:
    case kReady:
      return HOSTLER_STATE_RUNNING;
    case kPending:
    case kStarting:
      return HOSTLER_STATE_PENDING;
    case kStopping:
    case kAborting:
      return HOSTLER_STATE_STOPPING;
    case kFreezing:
    case kFrozen:
      return HOSTLER_STATE_SUSPENDED;
    default:
      return HOSTLER_STATE_UNKNOWN;
  }
}

}  // namespace

Instance read_instance(const Value& value) {
  Instance out;
  out.name = text_of(value, "name");
  const std::int64_t code = number_of(value, "status_code");
  if (out.name.empty() || out.name.size() > 255 || code == 0)
    throw_not_lxd("an instance without a name or a status_code");
  out.description = text_of(value, "description");
  out.kind = text_of(value, "type");
  out.created_unix_ns = read_time_ns(text_of(value, "created_at"));
  out.has_started = read_time_ns(text_of(value, "last_used_at")) > 0;
  out.state = state_of(code, out.has_started);
  out.is_on = code != kStopped;
  if (code == kError) out.state_reason = "LXD says: " + text_of(value, "status");
  out.zone = text_of(value, "location");
  if (out.zone == "none") out.zone.clear();  // not a cluster
  const Value* const config = object_of(value, "config");
  if (config == nullptr && code == kError) {  // its member of the cluster does not answer
    out.tags_unknown = true;
    return out;
  }
  if (config == nullptr) throw_not_lxd("an instance without a config");
  // LXD writes this key when the disk is there, and removes it at the first start.
  out.is_made = out.has_started || !text_of(*config, "volatile.apply_template").empty();
  out.addresses = read_addresses(value);
  const std::string key = text_of(*config, "user.hostler-key");
  if (key.empty() || out.name != name_of_key(key)) return out;
  out.key = key;
  out.set_id = text_of(*config, "user.hostler-set");
  out.owner = text_of(*config, "user.hostler-owner");
  out.provider_type = text_of(*config, kProviderType);
  out.digest = text_of(*config, kDigest);
  read_tags(*config, out.tags);
  return out;
}

void read_tags(const Value& config, Tags& to) {
  for (const auto& member : config.GetObject()) {
    const std::string_view name(member.name.GetString(), member.name.GetStringLength());
    if (!member.value.IsString() || name.substr(0, kTag.size()) != kTag) continue;
    const std::string_view value(member.value.GetString(), member.value.GetStringLength());
    const std::string_view tag = name.substr(kTag.size());
    if (is_tag(tag, value)) to[std::string(tag)] = value;
  }
}

}  // namespace hostler::lxd
