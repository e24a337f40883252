#include "core/store/create_json.h"

#include "core/crypto/base64.h"
#include "core/json/document.h"
#include "core/json/writer.h"

namespace hostler::store {
namespace {

void write_type(json::Writer& w, const model::InstanceType& type) {
  w.begin_object()
      .member("name", type.name)
      .member("provider_type", type.provider_type)
      .member("vcpus", type.resources.vcpus)
      .member("gpus", type.resources.gpus)
      .member("ram", type.resources.ram)
      .member("scratch", type.resources.scratch)
      .member("price_per_hour", type.price_per_hour.value)
      .member("market", static_cast<int>(type.market));
  w.key("zones").begin_array();
  for (const auto& zone : type.zones) w.value(zone);
  w.end_array()
      .member("quota_group", type.quota_group)
      .member("image_id", type.image_id)
      .member("provider_params", type.provider_params_json)
      .end_object();
}

std::string text(json::Value object, std::string_view key) {
  return std::string(object.at(key).text_or(""));
}

template <class T>
T number(json::Value object, std::string_view key) {
  return static_cast<T>(object.at(key).int_or(0));
}

std::vector<std::string> texts(json::Value array) {
  std::vector<std::string> out;
  for (const json::Value value : array.children()) out.emplace_back(value.text_or(""));
  return out;
}

model::InstanceType read_type(json::Value v) {
  return {.name = text(v, "name"),
          .provider_type = text(v, "provider_type"),
          .resources = {.vcpus = number<std::int32_t>(v, "vcpus"),
                        .gpus = number<std::int32_t>(v, "gpus"),
                        .ram = number<std::int64_t>(v, "ram"),
                        .scratch = number<std::int64_t>(v, "scratch")},
          .price_per_hour = {number<std::int64_t>(v, "price_per_hour")},
          .market = number<model::Market>(v, "market"),
          .zones = texts(v.at("zones")),
          .quota_group = text(v, "quota_group"),
          .image_id = text(v, "image_id"),
          .provider_params_json = text(v, "provider_params")};
}

}  // namespace

std::string to_json(const model::CreateRequest& r) {
  std::string out;
  json::Writer w(out);
  w.begin_object()
      .member("idempotency_key", r.idempotency_key)
      .member("host_instance_id", r.host_instance_id)
      .member("owner", r.owner)
      .member("epoch", static_cast<std::int64_t>(r.epoch));
  write_type(w.key("type"), r.type);
  w.member("region", r.region)
      .member("zone", r.zone)
      .member("subnet", r.subnet)
      .member("price_cap_per_hour", r.price_cap_per_hour.value)
      .member("name_hint", r.name_hint)
      .member("user_data_format", static_cast<int>(r.user_data_format))
      // May be any bytes, which JSON text cannot hold.
      .member("user_data", crypto::to_base64(r.user_data))
      .member("ssh_host_key_private", r.ssh_host_key_private)
      .member("ssh_host_key_public", r.ssh_host_key_public);
  w.key("ssh_public_keys").begin_array();
  for (const auto& key : r.ssh_public_keys) w.value(key);
  w.end_array().key("tags").begin_object();
  for (const auto& [key, value] : r.tags) w.member(key, value);
  w.end_object().end_object();
  return out;
}

Result<model::CreateRequest> create_from_json(std::string_view json_text) {
  const auto document =
      HOSTLER_TRY(json::Document::parse(json_text, {.bytes_max = std::size_t{16} << 20U}));
  const auto v = document.root();
  model::CreateRequest r{.idempotency_key = text(v, "idempotency_key"),
                         .host_instance_id = text(v, "host_instance_id"),
                         .owner = text(v, "owner"),
                         .epoch = number<std::uint64_t>(v, "epoch"),
                         .type = read_type(v.at("type")),
                         .region = text(v, "region"),
                         .zone = text(v, "zone"),
                         .subnet = text(v, "subnet"),
                         .price_cap_per_hour = {number<std::int64_t>(v, "price_cap_per_hour")},
                         .name_hint = text(v, "name_hint"),
                         .user_data_format = number<model::UserDataFormat>(v, "user_data_format"),
                         .user_data = {},  // below: it may be no base64
                         .ssh_host_key_private = text(v, "ssh_host_key_private"),
                         .ssh_host_key_public = text(v, "ssh_host_key_public"),
                         .ssh_public_keys = texts(v.at("ssh_public_keys")),
                         .tags = {}};
  auto user_data = crypto::from_base64(text(v, "user_data"));
  if (!user_data) return fail(Errc::kInternal, "user_data is no base64");
  r.user_data = *std::move(user_data);
  for (const json::Value tag : v.at("tags").children()) r.tags.emplace(tag.key(), tag.text_or(""));
  return r;
}

}  // namespace hostler::store
