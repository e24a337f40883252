#include "core/tap/requests.h"

#include "core/tap/members.h"

namespace hostler::tap {
namespace {

void write_type(Members& m, const model::InstanceType& type) {
  m.text("type", type.name);
  m.text("provider_type", type.provider_type);
  m.number("vcpus", type.resources.vcpus.whole());
  m.gpus(type.resources.gpus, type.gpu_groups);
  m.number("ram", type.resources.ram);
  m.number("scratch", type.resources.scratch);
  m.number("added_scratch", type.added_scratch);
  m.money("price_per_hour", type.price_per_hour);
  m.text("market", to_string(type.market));
  m.text("image_id", type.image_id);
}

void write_placement(Members& m, const model::Placement& placement) {
  m.number("root_disk", placement.root_disk);
  m.texts("security_groups", placement.security_groups);
  m.texts("profiles", placement.profiles);
  m.text("placement_group", placement.placement_group);
  m.text("capacity_reservation", placement.capacity_reservation);
  m.text("identity_profile", placement.identity_profile);
  m.number("tenancy", static_cast<int>(placement.tenancy));
  m.number("public_address", static_cast<int>(placement.public_address));
}

}  // namespace

std::string to_json(const plugin_host::SetConfig& config, const std::string& driver_version) {
  std::string out;
  const Secrets none;
  json::Writer w(out);
  w.begin_object().key("config").raw(keys_only(config.config_json));
  Members m(w, none);
  m.text("set_id", config.set_id);
  m.text("driver_version", driver_version);
  m.secret("credentials", config.credentials_json);
  m.tags("tags", config.shared_tags);
  w.end_object();
  return out;
}

std::string to_json(const model::CreateRequest& request, const Secrets& secrets) {
  return object_of(secrets, [&](Members& m) {
    m.hash("key", request.idempotency_key);
    m.text("instance", request.host_instance_id);
    write_type(m, request.type);
    write_placement(m, request.placement);
    m.text("region", request.region);
    m.text("zone", request.zone);
    m.text("subnet", request.subnet);
    m.text("remote_user", request.remote_user);
    m.money("price_cap_per_hour", request.price_cap_per_hour);
    m.number("user_data_bytes", request.user_data.size());
    m.flag("user_data_gzip", request.user_data_gzip);
    m.secret("host_key", request.ssh_host_key_private);
    m.number("login_keys", request.ssh_public_keys.size());
    m.tags("tags", request.tags);
  });
}

std::string to_json(const model::ListRequest& request, const Secrets& secrets) {
  return object_of(secrets, [&](Members& m) {
    m.tags("tag_filter", request.tag_filter);
    m.texts("ids", request.ids);
  });
}

std::string to_json(const model::DestroyRequest& request, const Secrets& secrets) {
  return object_of(secrets, [&](Members& m) {
    m.text("id", request.id);
    m.hash("key", request.idempotency_key);
    m.text("set_id", request.expected_set_id);
  });
}

std::string to_json(const model::SetTagsRequest& request, const Secrets& secrets) {
  return object_of(secrets, [&](Members& m) {
    m.text("id", request.id);
    m.tags("tags", request.set);
  });
}

std::string to_json(const plugin_host::HostKeyCheck& check, const Secrets& secrets) {
  return object_of(secrets, [&](Members& m) {
    m.text("id", check.id);
    m.text("algorithm", check.key_algo);
    m.hash("key", check.key_blob);
  });
}

std::string to_json(const plugin_host::PriceQuery& query, const Secrets& secrets) {
  return object_of(secrets, [&](Members& m) {
    write_type(m, query.type);
    m.wall("since_us", query.since);
  });
}

std::string to_json(const model::InstanceType& type, const Secrets& secrets) {
  return object_of(secrets, [&](Members& m) { write_type(m, type); });
}

std::string to_json(const model::PowerRequest& request, const Secrets& secrets) {
  return object_of(secrets, [&](Members& m) {
    m.text("id", request.id);
    m.text("set_id", request.expected_set_id);
  });
}

std::string to_json(const model::OfferingsQuery& query, const Secrets& secrets) {
  return object_of(secrets, [&](Members& m) {
    m.texts("provider_types", query.provider_types);
    if (query.market) m.text("market", to_string(*query.market));
  });
}

std::string to_json(const model::ConsoleQuery& query, const Secrets& secrets) {
  return object_of(secrets, [&](Members& m) {
    m.text("id", query.id);
    m.number("offset", query.offset);
    m.number("bytes_max", query.bytes_max);
  });
}

std::string to_json(const model::LeftoverDestroyRequest& request, const Secrets& secrets) {
  return object_of(secrets, [&](Members& m) {
    m.text("type", request.type);
    m.text("id", request.id);
    m.text("set_id", request.expected_set_id);
  });
}

std::string to_json(const model::ImageQuery& query, const Secrets& secrets) {
  return object_of(secrets, [&](Members& m) {
    m.text("name", query.name);
    m.text("owner", query.owner);
    m.text("architecture", query.architecture);
    m.number("filters", query.filters.size());
  });
}

std::string tags_to_json(const model::Tags& tags, const Secrets& secrets) {
  return object_of(secrets, [&](Members& m) { m.tags("tag_filter", tags); });
}

}  // namespace hostler::tap
