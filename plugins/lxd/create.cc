#include "create.h"

#include "cloud_init.h"
#include "names.h"
#include "request_fields.h"
#include "with_context.h"

namespace hostler::lxd {
namespace {

using driver::Error;
using driver::view;

using Keys = std::map<std::string, std::string>;

void refuse_what_is_not_there(const hostler_create_req& request, const Config& config) {
  const char* const wish = request.market == HOSTLER_MARKET_SPOT        ? "spot market"
                           : request.tenancy != HOSTLER_TENANCY_DEFAULT ? "tenancy"
                           : request.public_ip == HOSTLER_PUBLIC_IP_YES ? "public_ip"
                           : request.subnet.len != 0                    ? "subnet"
                           : request.n_security_groups != 0             ? "security_groups"
                           : request.placement_group.len != 0           ? "placement_group"
                           : request.capacity_reservation.len != 0      ? "capacity_reservation"
                           : request.identity_profile.len != 0          ? "identity_profile"
                                                                        : nullptr;
  if (wish != nullptr)
    throw Error(HOSTLER_E_UNSUPPORTED, std::string("the lxd driver has no ") + wish);
  if (request.region.len != 0 && view(request.region) != config.region)
    throw Error(HOSTLER_E_INVALID,
                "the region of this set is \"" + config.region + "\": see `region` in its config");
}

void add_user_data(const hostler_create_req& request, bool has_cloud_init_keys, Keys& keys) {
  const std::string prefix = has_cloud_init_keys ? "cloud-init." : "user.";
  keys[prefix + "vendor-data"] = vendor_data(request);
  const hostler_user_data* data = request.user_data;
  if (data == nullptr || data->n_bytes == 0) return;
  if (data->n_bytes > kUserDataMax)
    throw Error(HOSTLER_E_INVALID, "user data is longer than 16 KiB");
  std::string& bytes = keys[prefix + "user-data"];
  bytes.assign(reinterpret_cast<const char*>(data->bytes), data->n_bytes);
  if (bytes.find('\0') != std::string::npos)
    throw Error(HOSTLER_E_UNSUPPORTED, "LXD takes user data as text, and this has a byte 0");
  if (data->format == HOSTLER_USER_DATA_SH && bytes.compare(0, 2, "#!") != 0)
    throw Error(HOSTLER_E_INVALID, "user data of the format SH does not begin with #!");
}

/// The site's keys count more than the limits that follow from a type. What the type does not say
/// is that of the set's size of its name.
void add_limits(const hostler_instance_type& type, const Config& config, Keys& keys) {
  const Size* const size = config.size(view(type.provider_type));
  const auto add = [&](const char* key, std::uint64_t of_type, std::int64_t of_size) {
    const std::uint64_t limit = of_type != 0 ? of_type : static_cast<std::uint64_t>(of_size);
    if (limit != 0) keys.emplace(key, std::to_string(limit));
  };
  const Size none{};
  const Size& known = size == nullptr ? none : *size;
  add("limits.cpu", type.vcpus, known.vcpus);
  add("limits.memory", type.ram_bytes, known.ram_bytes);
}

/// Of what the host asks for, before the set's config and the driver's own keys are added to it: a
/// retry is the same request after a change of those.
std::string digest_of(const hostler_create_req& request) {
  driver::RequestFields all;
  for (const hostler_str& field : {request.type->provider_type, request.type->provider_params_json,
                                   request.image_id, request.zone, request.owner, request.name_hint,
                                   request.ssh_host_key_private, request.ssh_host_key_public})
    all.add(view(field));
  all.add(request.profiles, request.n_profiles);
  all.add(request.ssh_public_keys, request.n_ssh_public_keys);
  all.add(request.tags, request.n_tags);
  if (const hostler_user_data* const data = request.user_data; data != nullptr) {
    all.add_prefix(std::to_string(data->format));
    all.add({reinterpret_cast<const char*>(data->bytes), data->n_bytes});
  }
  for (std::size_t i = 0; i < request.n_disks; ++i) {
    const hostler_disk& disk = *request.disks[i];
    all.add(view(disk.kind));
    all.add(std::to_string(disk.role) + ' ' + std::to_string(disk.bytes));
  }
  if (request.remote_user.len != 0) all.add(view(request.remote_user));
  return hash_of(all.text());
}

}  // namespace

Tags read_tags(const hostler_kv* tags, std::size_t n) {
  Tags out;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string name = text(tags[i].key), value = text(tags[i].value);
    if (!is_tag(name, value))
      throw Error(HOSTLER_E_INVALID,
                  "LXD cannot keep the tag \"" + name + "\" with the value \"" + value + "\"");
    out[name] = value;
  }
  return out;
}

CreateSpec read_spec(const hostler_create_req& request, const Config& config,
                     const std::string& set_id, const Tags& shared_tags, bool has_cloud_init_keys) {
  refuse_what_is_not_there(request, config);
  const hostler_instance_type& type = *request.type;
  const std::string image = request.image_id.len != 0 ? text(request.image_id) : config.image;
  if (image.empty())
    throw Error(
        HOSTLER_E_INVALID,
        "no image: name one in the set's `config` (`image`), in `image_id` of the type or the "
        "pool, or by `image` of set, type or pool");
  InstanceConfig instance_config = read_params(text(type.provider_params_json), config.instance);
  if (request.n_profiles != 0) {
    instance_config.profiles.clear();
    for (std::size_t i = 0; i < request.n_profiles; ++i)
      instance_config.profiles.push_back(text(request.profiles[i]));
  }
  CreateSpec out;
  out.wishes = read_wishes(request);
  out.image = image;
  out.description = text(request.name_hint);
  out.profiles = std::move(instance_config.profiles);
  out.key = text(request.idempotency_key);
  out.name = name_of_key(out.key);
  out.zone = text(request.zone);
  Keys& keys = out.keys = std::move(instance_config.config);
  if (config.limits_from_type) add_limits(type, config, keys);
  add_user_data(request, has_cloud_init_keys, keys);
  Tags tags = shared_tags;
  for (const auto& [name, value] : read_tags(request.tags, request.n_tags)) tags[name] = value;
  tags["hostler-set"] = set_id;
  tags["hostler-key"] = out.key;
  if (request.owner.len != 0) tags["hostler-owner"] = text(request.owner);
  for (const auto& [name, value] : tags) keys[std::string(kTag) + name] = value;
  keys[kProviderType] = text(type.provider_type);
  out.digest = digest_of(request);
  keys[kDigest] = out.digest;
  out.expected.name = out.name;
  out.expected.key = out.key;
  out.expected.set_id = set_id;
  out.expected.owner = text(request.owner);
  out.expected.provider_type = keys[kProviderType];
  out.expected.tags = tags;
  out.expected.zone = out.zone;
  out.expected.state = HOSTLER_STATE_PENDING;
  return out;
}

}  // namespace hostler::lxd
