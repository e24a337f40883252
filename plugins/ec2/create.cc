#include "create.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "api.h"
#include "digest.h"
#include "disks.h"
#include "request_fields.h"

namespace hostler::ec2 {
namespace {

using driver::Error;
using driver::view;

void refuse_what_is_not_there(const hostler_create_req& request, const Config& config) {
  if (request.n_profiles != 0) throw Error(HOSTLER_E_UNSUPPORTED, "the ec2 driver has no profiles");
  if (request.n_ssh_public_keys > 1)
    throw Error(HOSTLER_E_UNSUPPORTED, "EC2 lets one key log in, and there are " +
                                           std::to_string(request.n_ssh_public_keys));
  if (request.ssh_host_key_private.len != 0)
    throw Error(HOSTLER_E_UNSUPPORTED, "the ec2 driver puts no host key in place: user data does");
  if (request.region.len != 0 && view(request.region) != config.region)
    throw Error(HOSTLER_E_INVALID,
                "the region of this set is \"" + config.region + "\": see `region` in its config");
}

void add_user_data(const hostler_create_req& request, Query& query) {
  const hostler_user_data* const data = request.user_data;
  if (data == nullptr || data->n_bytes == 0) return;
  if (data->n_bytes > kUserDataMax)
    throw Error(HOSTLER_E_INVALID, "user data is longer than 16 KiB");
  const std::string_view bytes(reinterpret_cast<const char*>(data->bytes), data->n_bytes);
  const bool is_script =
      data->format == HOSTLER_USER_DATA_SH && (data->flags & HOSTLER_USER_DATA_GZIP) == 0;
  if (is_script && bytes.substr(0, 2) != "#!")
    throw Error(HOSTLER_E_INVALID, "user data of the format SH does not begin with #!");
  query.add("UserData", in_base64(bytes));
}

std::vector<std::string> security_groups(const hostler_create_req& request, const Config& config) {
  if (request.n_security_groups == 0) return config.security_groups;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < request.n_security_groups; ++i)
    out.push_back(text(request.security_groups[i]));
  return out;
}

/// A network card of its own where the request says something of the network, for only there EC2
/// takes it.
void add_network(const hostler_create_req& request, const Config& config, const std::string& subnet,
                 Query& query) {
  const std::vector<std::string> groups = security_groups(request, config);
  const bool are_ids = std::all_of(groups.begin(), groups.end(), [](const std::string& one) {
    return one.compare(0, 3, "sg-") == 0;
  });
  if (subnet.empty() && request.public_ip == HOSTLER_PUBLIC_IP_DEFAULT) {
    if (are_ids) query.add_list("SecurityGroupId", groups);
    if (!are_ids) query.add_list("SecurityGroup", groups);
    return;
  }
  if (!are_ids)
    throw Error(
        HOSTLER_E_INVALID,
        "security_groups: with a subnet or with public_address, EC2 takes ids only (\"sg-...\")");
  const std::string card = "NetworkInterface.1.";
  query.add(card + "DeviceIndex", "0").add(card + "DeleteOnTermination", "true");
  query.add(card + "SubnetId", subnet).add_list(card + "SecurityGroupId", groups);
  if (request.public_ip != HOSTLER_PUBLIC_IP_DEFAULT)
    query.add(card + "AssociatePublicIpAddress",
              request.public_ip == HOSTLER_PUBLIC_IP_YES ? "true" : "false");
}

void add_placement(const hostler_create_req& request, const std::string& subnet, Query& query) {
  if (subnet.empty()) query.add("Placement.AvailabilityZone", text(request.zone));
  query.add("Placement.GroupName", text(request.placement_group));
  constexpr std::array kTenancies{"", "dedicated", "host"};
  query.add("Placement.Tenancy", kTenancies.at(request.tenancy));
  const std::string reservation = text(request.capacity_reservation);
  const bool is_group = reservation.compare(0, 4, "arn:") == 0;
  query.add(std::string("CapacityReservationSpecification.CapacityReservationTarget.") +
                (is_group ? "CapacityReservationResourceGroupArn" : "CapacityReservationId"),
            reservation);
}

/// Millionths as a decimal number.
std::string price_text(std::int64_t micros) {
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "%lld.%06lld", static_cast<long long>(micros / 1'000'000),
                static_cast<long long>(micros % 1'000'000));
  return out.data();
}

void add_market(const hostler_create_req& request, Query& query) {
  if (request.market != HOSTLER_MARKET_SPOT) return;
  const std::string options = "InstanceMarketOptions.";
  query.add(options + "MarketType", "spot");
  query.add(options + "SpotOptions.SpotInstanceType", "one-time");
  query.add(options + "SpotOptions.InstanceInterruptionBehavior", "terminate");
  if (request.price_cap_micros_per_hour > 0)
    query.add(options + "SpotOptions.MaxPrice", price_text(request.price_cap_micros_per_hour));
}

void add_metadata_and_profile(const hostler_create_req& request, const Config& config,
                              const InstanceDefaults& defaults, Query& query) {
  query.add("MetadataOptions.HttpEndpoint", "enabled");
  query.add("MetadataOptions.HttpTokens", "required");
  query.add("MetadataOptions.HttpPutResponseHopLimit", std::to_string(defaults.metadata_hop_limit));
  const std::string profile =
      request.identity_profile.len != 0 ? text(request.identity_profile) : config.instance_profile;
  query.add(
      profile.compare(0, 4, "arn:") == 0 ? "IamInstanceProfile.Arn" : "IamInstanceProfile.Name",
      profile);
}

Tags all_tags(const hostler_create_req& request, const std::string& set_id, const Tags& shared_tags,
              const CreateSpec& spec) {
  Tags tags = shared_tags;
  if (request.name_hint.len != 0) tags.emplace(kNameTag, text(request.name_hint));
  for (const auto& [key, value] : read_tags(request.tags, request.n_tags)) tags[key] = value;
  tags[kSetTag] = set_id;
  tags[kKeyTag] = spec.key;
  tags[kDigestTag] = spec.digest;
  if (request.owner.len != 0) tags[kOwnerTag] = text(request.owner);
  return tags;
}

/// Of what the host asks for, before the set's config and the driver's own fields are added to it:
/// a retry is the same request after a change of those.
std::string digest_of_request(const hostler_create_req& request) {
  driver::RequestFields all;
  for (const hostler_str& field :
       {request.type->provider_type, request.type->provider_params_json, request.image_id,
        request.zone, request.subnet, request.owner, request.name_hint, request.placement_group,
        request.capacity_reservation, request.identity_profile})
    all.add(view(field));
  all.add(request.security_groups, request.n_security_groups);
  all.add(request.ssh_public_keys, request.n_ssh_public_keys);
  all.add(request.tags, request.n_tags);
  if (const hostler_user_data* const data = request.user_data; data != nullptr)
    all.add({reinterpret_cast<const char*>(data->bytes), data->n_bytes});
  for (std::size_t i = 0; i < request.n_disks; ++i) {
    const hostler_disk& disk = *request.disks[i];
    all.add(view(disk.kind));
    for (const std::uint64_t number : {std::uint64_t{disk.role}, disk.bytes, disk.iops,
                                       disk.throughput_bytes_per_s, std::uint64_t{disk.flags}})
      all.add(std::to_string(number));
  }
  for (const std::int64_t number :
       {std::int64_t{request.market}, std::int64_t{request.tenancy},
        std::int64_t{request.public_ip}, request.price_cap_micros_per_hour})
    all.add(std::to_string(number));
  if (request.remote_user.len != 0) all.add(view(request.remote_user));
  return digest_of(all.text());
}

}  // namespace

void add_tags(const std::vector<const char*>& kinds, const Tags& tags, Query& query) {
  int n = 0;
  for (const char* kind : kinds) {
    const std::string specification = "TagSpecification." + std::to_string(++n);
    query.add(specification + ".ResourceType", kind);
    int m = 0;
    for (const auto& [key, value] : tags) {
      const std::string tag = specification + ".Tag." + std::to_string(++m);
      query.add_always(tag + ".Key", key).add_always(tag + ".Value", value);
    }
  }
}

Tags read_tags(const hostler_kv* tags, std::size_t n) {
  Tags out;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string key = text(tags[i].key), value = text(tags[i].value);
    const bool good = !key.empty() && key.size() <= 127 && value.size() <= 255 &&
                      key.compare(0, 4, "aws:") != 0 && key != kDigestTag;
    if (!good)
      throw Error(HOSTLER_E_INVALID,
                  "EC2 cannot keep the tag \"" + key + "\" with the value \"" + value + "\"");
    out[key] = value;
  }
  return out;
}

std::string choose_subnet(const hostler_create_req& request, const Config& config,
                          const Zones& zones) {
  const std::string zone = text(request.zone);
  const auto zone_of = [&](const std::string& subnet) {
    const auto found = zones.find(subnet);
    return found == zones.end() ? std::string() : found->second;
  };
  if (request.subnet.len != 0) return text(request.subnet);
  std::vector<std::string> fitting;
  for (const std::string& one : config.subnets)
    if (zone.empty() || zone_of(one) == zone) fitting.push_back(one);
  if (fitting.empty() && !config.subnets.empty())
    throw Error(HOSTLER_E_INVALID, "no subnet of `subnets` is in the zone " + zone)
        .about(HOSTLER_SCOPE_ZONE, zone);
  if (fitting.empty()) return {};
  // A retry has to name the same one, so the key chooses.
  const std::string digest = digest_of(view(request.idempotency_key));
  return fitting[std::stoul(digest.substr(0, 6), nullptr, 16) % fitting.size()];
}

CreateSpec read_spec(const hostler_create_req& request, const Config& config,
                     const std::string& set_id, const Tags& shared_tags, const Zones& zones) {
  refuse_what_is_not_there(request, config);
  CreateSpec out;
  out.image = request.image_id.len != 0 ? text(request.image_id) : config.image;
  if (out.image.empty())
    throw Error(
        HOSTLER_E_INVALID,
        "no image: name one in the set's `config` (`image`), in `image_id` of the type or the "
        "pool, or by `image` of set, type or pool");
  const InstanceDefaults defaults =
      read_params(text(request.type->provider_params_json), config.instance);
  out.key = text(request.idempotency_key);
  out.digest = digest_of_request(request);
  out.subnet = choose_subnet(request, config, zones);
  out.zone = text(request.zone);
  if (config.key_name.empty() && request.n_ssh_public_keys != 0)
    out.public_key = text(request.ssh_public_keys[0]);
  out.key_pair_tags = shared_tags;
  out.key_pair_tags[kSetTag] = set_id;
  if (request.owner.len != 0) out.key_pair_tags[kOwnerTag] = text(request.owner);
  out.subject = {{}, out.zone, out.subnet, out.image};
  Query& query = out.query;
  query.add("ImageId", out.image).add("InstanceType", text(request.type->provider_type));
  query.add("MinCount", "1").add("MaxCount", "1").add("ClientToken", out.key);
  query.add("InstanceInitiatedShutdownBehavior", "terminate");
  query.add("KeyName", config.key_name);
  add_user_data(request, query);
  add_network(request, config, out.subnet, query);
  add_placement(request, out.subnet, query);
  add_market(request, query);
  add_metadata_and_profile(request, config, defaults, query);
  std::vector<const char*> kinds{"instance", "volume", "network-interface"};
  if (request.market == HOSTLER_MARKET_SPOT) kinds.push_back("spot-instances-request");
  add_tags(kinds, all_tags(request, set_id, shared_tags, out), query);
  out.disks = read_disks(request, defaults);
  out.needs_root_device = std::any_of(out.disks.begin(), out.disks.end(),
                                      [](const auto& disk) { return disk.device.empty(); });
  return out;
}

Query complete(const CreateSpec& spec, const std::string& key_name,
               const std::string& root_device) {
  Query out = spec.query;
  out.add("KeyName", key_name);
  int n = 0;
  for (const CreateSpec::Disk& disk : spec.disks) {
    const std::string mapping = "BlockDeviceMapping." + std::to_string(++n) + ".";
    out.add(mapping + "DeviceName", disk.device.empty() ? root_device : disk.device);
    for (const auto& [field, value] : disk.fields) out.add(mapping + "Ebs." + field, value);
  }
  return out;
}

}  // namespace hostler::ec2
