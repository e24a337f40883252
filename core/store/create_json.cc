#include "core/store/create_json.h"

#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/crypto/base64.h"
#include "core/json/document.h"
#include "core/json/gpus.h"
#include "core/json/writer.h"

namespace hostler::store {
namespace {

/// The members of a create's JSON. Both visitors follow from this one description.
template <class V>
void fields(V& v, typename V::template Ref<model::InstanceType> r) {
  v.text("name", r.name);
  v.text("provider_type", r.provider_type);
  v.whole_vcpus("vcpus", r.resources.vcpus);
  v.gpus("gpus", r.resources.gpus, r.gpu_groups);
  v.number("ram", r.resources.ram);
  v.number("scratch", r.resources.scratch);
  v.number("added_scratch", r.added_scratch);
  v.number("price_per_hour", r.price_per_hour.value);
  v.choice("market", r.market, model::Market::kSpot);
  v.texts("zones", r.zones);
  v.text("quota_group", r.quota_group);
  v.text("image_id", r.image_id);
  v.text("provider_params", r.provider_params_json);
}

template <class V>
void fields(V& v, typename V::template Ref<model::CreateRequest> r) {
  v.text("idempotency_key", r.idempotency_key);
  v.text("host_instance_id", r.host_instance_id);
  v.text("owner", r.owner);
  v.number("epoch", r.epoch);
  v.object("type", r.type);
  v.text("region", r.region);
  v.text("zone", r.zone);
  v.text("subnet", r.subnet);
  v.number("price_cap_per_hour", r.price_cap_per_hour.value);
  v.number("root_disk", r.placement.root_disk);
  v.text("name_hint", r.name_hint);
  v.choice("user_data_format", r.user_data_format, model::UserDataFormat::kMime);
  v.bytes("user_data", r.user_data);
  v.flag("user_data_gzip", r.user_data_gzip);
  v.text("ssh_host_key_private", r.ssh_host_key_private);
  v.text("ssh_host_key_public", r.ssh_host_key_public);
  v.texts("ssh_public_keys", r.ssh_public_keys);
  v.texts("security_groups", r.placement.security_groups);
  v.texts("profiles", r.placement.profiles);
  v.text("placement_group", r.placement.placement_group);
  v.text("capacity_reservation", r.placement.capacity_reservation);
  v.text("identity_profile", r.placement.identity_profile);
  v.choice("tenancy", r.placement.tenancy, model::Tenancy::kHost);
  v.choice("public_address", r.placement.public_address, model::PublicAddress::kNo);
  v.text("remote_user", r.remote_user);
  v.tags("tags", r.tags);
}

class MemberWriter {
 public:
  template <class T>
  using Ref = const T&;

  explicit MemberWriter(json::Writer& out) : out_(out) {}

  void text(const char* key, const std::string& value) { out_.member(key, value); }
  template <class T>
  void number(const char* key, T value) {
    out_.member(key, static_cast<std::int64_t>(value));
  }
  void whole_vcpus(const char* key, model::Vcpus value) { out_.member(key, value.whole()); }
  void gpus(const char* key, std::int32_t count, const model::GpuGroups& groups) {
    json::write_gpus_value(out_.key(key), count, groups);
  }
  void flag(const char* key, bool value) { out_.member(key, value); }
  template <class E>
  void choice(const char* key, E value, E) {
    out_.member(key, static_cast<std::int64_t>(value));
  }
  /// May be any bytes, which JSON text cannot hold.
  void bytes(const char* key, const std::string& value) {
    out_.member(key, crypto::to_base64(value));
  }
  void texts(const char* key, const std::vector<std::string>& values) {
    out_.key(key).begin_array();
    for (const auto& value : values) out_.value(value);
    out_.end_array();
  }
  void tags(const char* key, const model::Tags& values) {
    out_.key(key).begin_object();
    for (const auto& [name, value] : values) out_.member(name, value);
    out_.end_object();
  }
  template <class T>
  void object(const char* key, const T& value) {
    out_.key(key).begin_object();
    fields(*this, value);
    out_.end_object();
  }

 private:
  json::Writer& out_;
};

/// A missing member leaves its field as it is. A member of another kind, or out of its range, is a
/// problem.
class MemberReader {
 public:
  template <class T>
  using Ref = T&;

  explicit MemberReader(json::Value from) : from_(from) {}
  [[nodiscard]] const std::string& problem() const { return problem_; }

  void text(const char* key, std::string& out) {
    if (const auto value = member(key, json::Kind::kString)) out = std::string(value->text());
  }
  template <class T>
  void number(const char* key, T& out) {
    if (const auto value = integer(key); value && std::in_range<T>(*value))
      out = static_cast<T>(*value);
    else if (value)
      complain(key);
  }
  void whole_vcpus(const char* key, model::Vcpus& out) {
    auto whole = static_cast<std::int32_t>(out.whole());
    number(key, whole);
    out = whole;
  }
  void gpus(const char* key, std::int32_t& count, model::GpuGroups& groups) {
    json::Problems problems;
    if (from_.has(key) && !json::read_gpus({from_.at(key), problems}, count, groups)) complain(key);
  }
  void flag(const char* key, bool& out) {
    if (const auto value = member(key, json::Kind::kBool)) out = value->bool_or(out);
  }
  template <class E>
  void choice(const char* key, E& out, E last) {
    if (const auto value = integer(key); value && *value >= 0 && *value <= std::int64_t(last))
      out = static_cast<E>(*value);
    else if (value)
      complain(key);
  }
  void bytes(const char* key, std::string& out) {
    const auto value = member(key, json::Kind::kString);
    if (!value) return;
    if (auto decoded = crypto::from_base64(value->text()))
      out = *std::move(decoded);
    else
      complain(key);
  }
  void texts(const char* key, std::vector<std::string>& out) {
    const auto array = member(key, json::Kind::kArray);
    if (!array) return;
    for (const json::Value value : array->children()) {
      if (!value.is(json::Kind::kString)) return complain(key);
      out.emplace_back(value.text());
    }
  }
  void tags(const char* key, model::Tags& out) {
    const auto object = member(key, json::Kind::kObject);
    if (!object) return;
    for (const json::Value value : object->children()) {
      if (!value.is(json::Kind::kString)) return complain(key);
      out.emplace(value.key(), value.text());
    }
  }
  template <class T>
  void object(const char* key, T& out) {
    const auto value = member(key, json::Kind::kObject);
    if (!value) return;
    MemberReader inner(*value);
    fields(inner, out);
    if (problem_.empty()) problem_ = inner.problem();
  }

 private:
  std::optional<json::Value> member(const char* key, json::Kind kind) {
    if (!from_.has(key)) return std::nullopt;
    const auto value = from_.at(key);
    if (value.is(kind)) return value;
    complain(key);
    return std::nullopt;
  }
  std::optional<std::int64_t> integer(const char* key) {
    const auto value = member(key, json::Kind::kNumber);
    if (!value) return std::nullopt;
    const std::int64_t number = value->int_or(INT64_MIN);
    if (number != INT64_MIN) return number;
    complain(key);
    return std::nullopt;
  }
  /// Not the value: it may be a secret.
  void complain(const char* key) {
    if (problem_.empty()) problem_ = std::string(key) + " has an invalid value";
  }

  json::Value from_;
  std::string problem_;
};

}  // namespace

std::string to_json(const model::CreateRequest& request) {
  std::string out;
  json::Writer writer(out);
  writer.begin_object();
  MemberWriter members(writer);
  fields(members, request);
  writer.end_object();
  return out;
}

Result<model::CreateRequest> create_from_json(std::string_view json_text) {
  const auto document = json::Document::parse(json_text, {.bytes_max = std::size_t{16} << 20U});
  if (!document || !document->root().is(json::Kind::kObject))
    return fail(Errc::kInternal, "the create is not a JSON object");
  MemberReader members(document->root());
  model::CreateRequest request;
  fields(members, request);
  if (!members.problem().empty()) return fail(Errc::kInternal, "the create's " + members.problem());
  if (request.idempotency_key.empty())
    return fail(Errc::kInternal, "the create has no idempotency_key");
  return request;
}

}  // namespace hostler::store
