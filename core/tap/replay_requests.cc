#include "core/tap/replay_requests.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/base/masked.h"
#include "core/json/gpus.h"
#include "core/tap/reader.h"
#include "core/tap/secrets.h"

namespace hostler::tap {
namespace {

/// Runs at the first boot and does nothing.
constexpr const char* kUserData = "#!/bin/sh\n";
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;

std::string text(const json::Value& object, std::string_view member) {
  std::string out(object.at(member).text_or(""));
  return out == kHidden ? std::string() : out;
}
std::int64_t number(const json::Value& object, std::string_view member, std::int64_t most) {
  return std::clamp<std::int64_t>(object.at(member).int_or(0), 0, most);
}
model::Placement placement_of(const json::Value& request) {
  model::Placement out;
  out.root_disk = number(request, "root_disk", kMostBytes);
  out.security_groups = texts_of(request.at("security_groups"));
  out.profiles = texts_of(request.at("profiles"));
  out.placement_group = text(request, "placement_group");
  out.capacity_reservation = text(request, "capacity_reservation");
  out.identity_profile = text(request, "identity_profile");
  out.tenancy = static_cast<model::Tenancy>(number(request, "tenancy", 2));
  out.public_address = static_cast<model::PublicAddress>(number(request, "public_address", 2));
  return out;
}

}  // namespace

std::optional<std::string> Renamed::id(const json::Value& recorded) const {
  const auto found = ids.find(std::string(recorded.text_or("")));
  return found == ids.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> texts_of(const json::Value& list) {
  std::vector<std::string> out;
  for (const json::Value one : list.children()) out.emplace_back(one.text_or(""));
  return out;
}

model::InstanceType type_of(const json::Value& request) {
  model::InstanceType out;
  out.name = text(request, "type");
  out.provider_type = text(request, "provider_type");
  out.resources.vcpus =
      static_cast<std::int32_t>(std::max<std::int64_t>(1, number(request, "vcpus", 1 << 20)));
  json::Problems ignored;  // The file may be damaged: a type without gpus, then.
  if (request.has("gpus"))
    json::read_gpus({request.at("gpus"), ignored}, out.resources.gpus, out.gpu_groups);
  out.resources.ram = number(request, "ram", kMostBytes);
  out.resources.scratch = number(request, "scratch", kMostBytes);
  out.added_scratch = number(request, "added_scratch", kMostBytes);
  out.price_per_hour = money_of(request, "price_per_hour").value_or(model::Micros{});
  out.market = market_of(request);
  out.image_id = text(request, "image_id");
  return out;
}

model::Tags tags_of(const json::Value& tags, const std::string& key) {
  model::Tags out;
  for (const json::Value tag : tags.children())
    if (tag.key().starts_with("hostler-") && tag.text_or("") != kHidden)
      out[std::string(tag.key())] = tag.text_or("");
  out[model::tag::kSet] = out[model::tag::kOwner] = kReplaySet;
  if (!key.empty()) out[model::tag::kKey] = key;
  return out;
}

model::CreateRequest create_of(const json::Value& request, const Renamed& names,
                               const std::string& key) {
  model::CreateRequest out;
  out.idempotency_key = key;
  out.host_instance_id = text(request, "instance");
  out.owner = kReplaySet;
  out.epoch = 1;
  out.type = type_of(request);
  out.placement = placement_of(request);
  out.region = text(request, "region");
  out.zone = text(request, "zone");
  out.subnet = text(request, "subnet");
  out.remote_user = text(request, "remote_user");
  out.price_cap_per_hour = money_of(request, "price_cap_per_hour").value_or(model::Micros{});
  out.name_hint = kReplaySet;
  if (number(request, "user_data_bytes", kMostBytes) > 0) {
    out.user_data_format = model::UserDataFormat::kSh;
    out.user_data = kUserData;
  }
  if (request.has("host_key")) {
    out.ssh_host_key_private = names.host_key_private;
    out.ssh_host_key_public = names.host_key_public;
  }
  if (request.has("login_keys")) out.ssh_public_keys = {names.login_key};
  out.tags = tags_of(request.at("tags"), key);
  return out;
}

model::OfferingsQuery offerings_of(const json::Value& request) {
  model::OfferingsQuery out;
  out.provider_types = texts_of(request.at("provider_types"));
  if (request.has("market")) out.market = market_of(request);
  return out;
}

model::ImageQuery image_of(const json::Value& request) {
  return {.name = text(request, "name"),
          .owner = text(request, "owner"),
          .architecture = text(request, "architecture")};
}

}  // namespace hostler::tap
