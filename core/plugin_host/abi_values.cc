#include "core/plugin_host/abi_values.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "core/base/text.h"
#include "core/plugin_host/text_reader.h"

namespace hostler::plugin_host {
namespace {

using model::CloudErrorClass;

struct Status {
  hostler_status status;
  const char* name;
  CloudErrorClass cls;
};
constexpr std::array<Status, 13> kStatuses{{
    {HOSTLER_E_INTERNAL, "INTERNAL", CloudErrorClass::kInternal},
    {HOSTLER_E_INVALID, "INVALID", CloudErrorClass::kInvalid},
    {HOSTLER_E_UNSUPPORTED, "UNSUPPORTED", CloudErrorClass::kUnsupported},
    {HOSTLER_E_NOT_FOUND, "NOT_FOUND", CloudErrorClass::kNotFound},
    {HOSTLER_E_CONFLICT, "CONFLICT", CloudErrorClass::kConflict},
    {HOSTLER_E_AUTH, "AUTH", CloudErrorClass::kAuth},
    {HOSTLER_E_RATE_LIMIT, "RATE_LIMIT", CloudErrorClass::kRateLimit},
    {HOSTLER_E_QUOTA, "QUOTA", CloudErrorClass::kQuota},
    {HOSTLER_E_CAPACITY, "CAPACITY", CloudErrorClass::kCapacity},
    {HOSTLER_E_TRANSIENT, "TRANSIENT", CloudErrorClass::kTransient},
    {HOSTLER_E_TIMEOUT, "TIMEOUT", CloudErrorClass::kTimeout},
    {HOSTLER_E_CANCELLED, "CANCELLED", CloudErrorClass::kCancelled},
    {HOSTLER_E_KEY_MISMATCH, "KEY_MISMATCH", CloudErrorClass::kKeyMismatch},
}};
static_assert(model::scope::kType == HOSTLER_SCOPE_TYPE &&
              model::scope::kGroup == HOSTLER_SCOPE_GROUP &&
              model::scope::kZone == HOSTLER_SCOPE_ZONE &&
              model::scope::kRegion == HOSTLER_SCOPE_REGION &&
              model::scope::kAccount == HOSTLER_SCOPE_ACCOUNT &&
              model::scope::kMarket == HOSTLER_SCOPE_MARKET &&
              model::scope::kOperation == HOSTLER_SCOPE_OPERATION &&
              model::scope::kSubnet == HOSTLER_SCOPE_SUBNET &&
              model::scope::kImage == HOSTLER_SCOPE_IMAGE);
constexpr std::uint32_t kScopes = 0x1ff;
/// An unknown bit is read as all of these together: it means less than the whole set.
constexpr std::uint32_t kNarrow =
    model::scope::kType | model::scope::kZone | model::scope::kMarket | model::scope::kOperation;
constexpr std::size_t kZoneBytesMax = 63;  // the zone of a price is part of a key in the store

const Status* find_status(hostler_status status) {
  const auto* const found = std::find_if(kStatuses.begin(), kStatuses.end(),
                                         [&](const Status& s) { return s.status == status; });
  return found == kStatuses.end() ? nullptr : found;
}

model::CloudState cloud_state(std::uint32_t state) {
  static_assert(static_cast<std::uint32_t>(model::CloudState::kFailed) == HOSTLER_STATE_FAILED &&
                static_cast<std::uint32_t>(model::CloudState::kRunning) == HOSTLER_STATE_RUNNING &&
                static_cast<std::uint32_t>(model::CloudState::kGone) == HOSTLER_STATE_GONE);
  return state <= HOSTLER_STATE_FAILED ? static_cast<model::CloudState>(state)
                                       : model::CloudState::kUnknown;  // R9
}

std::uint32_t scope_of(std::uint32_t bits) {
  return (bits & kScopes) | ((bits & ~kScopes) != 0 ? kNarrow : 0);
}

std::optional<model::Shortage> shortage_of(const hostler_instance& in) {
  const auto status = in.state_error_status;
  const bool is_one = status == HOSTLER_E_CAPACITY || status == HOSTLER_E_QUOTA;
  if (!is_one || in.state_error.len == 0) return std::nullopt;
  return model::Shortage{find_status(status)->cls, scope_of(in.state_error_scope)};
}

}  // namespace

std::string status_name(hostler_status status) {
  if (status == HOSTLER_OK) return "OK";
  if (status == HOSTLER_PENDING) return "PENDING";
  const auto* const known = find_status(status);
  return known != nullptr ? known->name : "the unknown status " + std::to_string(status);
}

std::string read_instance(const hostler_rec& record, model::AddressChoice choice,
                          model::ListedInstance& out, TextsLeft& left) {
  hostler_instance in;
  if (auto broken = copy_growable(&record, in); !broken.empty()) return broken;
  TextReader read(left);
  read.name(out.id, in.id, "id");
  read.name(out.request_id, in.request_id, "request_id");
  read.name(out.idempotency_key, in.idempotency_key, "idempotency_key");
  read.name(out.set_id, in.set_id, "set_id");
  read.name(out.owner, in.owner, "owner");
  read.name(out.zone, in.zone, "zone");
  read.name(out.remote_user, in.remote_user, "remote_user");
  read.text(out.state_reason, in.state_reason, "state_reason");
  out.state_reason = printable(out.state_reason);
  read.text(out.state_error, in.state_error, "state_error");
  out.state_error = printable(out.state_error);
  out.shortage = shortage_of(in);
  read.address(out.address, choice, in.addresses, in.n_addresses);
  read.tags_of(out, in.tags, in.n_tags);
  out.tags_unknown = (in.flags & HOSTLER_INSTANCE_TAGS_UNKNOWN) != 0;
  out.ssh_port = in.ssh_port == 0 ? std::uint16_t{22} : static_cast<std::uint16_t>(in.ssh_port);
  out.market = market(in.market);
  if (in.price_micros_per_hour >= 0) out.price_per_hour = model::Micros{in.price_micros_per_hour};
  out.state = cloud_state(in.state);
  out.created = wall(in.created_unix_ns);
  out.interruption = wall(in.interruption_unix_ns);
  if (read.broken().empty() && out.id.empty()) return "R28: an instance without an id";
  if (in.ssh_port > 65535) return "R6: an ssh_port of " + std::to_string(in.ssh_port);
  return first_flaw({std::move(read.broken()), price_flaw(in.price_micros_per_hour, -1),
                     time_flaw("created_unix_ns", in.created_unix_ns),
                     time_flaw("interruption_unix_ns", in.interruption_unix_ns)});
}

std::string read_set_info(const hostler_rec& record, model::SetInfo& out) {
  hostler_set_info in;
  if (auto broken = copy_growable(&record, in); !broken.empty()) return broken;
  const auto has = [&](std::uint64_t bit) { return (in.capabilities & bit) != 0; };
  const auto milliseconds = [](std::uint64_t ms) {
    return std::chrono::milliseconds(std::min<std::uint64_t>(ms, 86'400'000));
  };
  TextReader read;
  read.text(out.account_id, in.account_id, "account_id");
  read.text(out.region, in.region, "region");
  read.text(out.currency, in.currency, "currency");
  out.max_concurrency = in.max_concurrency;
  out.list_consistency = milliseconds(in.list_consistency_ms);
  out.list_interval_min = milliseconds(in.list_interval_min_ms);
  out.user_data_max_bytes = in.user_data_max_bytes;
  out.tags_max = in.tags_max;
  out.tag_key_max = in.tag_key_max;
  out.tag_value_max = in.tag_value_max;
  out.name_max = in.name_max;
  out.create_token_native = has(HOSTLER_CAP_CREATE_TOKEN_NATIVE);
  out.host_key_inject = has(HOSTLER_CAP_HOST_KEY_INJECT);
  out.user_data = has(HOSTLER_CAP_USER_DATA);
  out.user_data_gzip = has(HOSTLER_CAP_USER_DATA_GZIP);
  out.user_data_mime = has(HOSTLER_CAP_USER_DATA_MIME);
  out.spot = has(HOSTLER_CAP_SPOT);
  out.stop = has(HOSTLER_CAP_STOP);
  if (std::max(out.account_id.size(), out.region.size()) > model::kAccountBytesMax)
    return "limit: an account_id or a region of more than " +
           std::to_string(model::kAccountBytesMax) + " bytes";
  return std::move(read.broken());
}

std::string read_price(const hostler_rec& record, model::ZonePrice& out) {
  hostler_price in;
  if (auto broken = copy_growable(&record, in); !broken.empty()) return broken;
  TextReader read;
  read.text(out.zone, in.zone, "zone");
  out.market = market(in.market);
  out.point = {wall(in.start_unix_ns), model::Micros{in.price_micros_per_hour}};
  if (auto flaw = first_flaw(
          {price_flaw(in.price_micros_per_hour, 0), time_flaw("start_unix_ns", in.start_unix_ns)});
      !flaw.empty())
    return flaw;
  if (out.zone.size() > kZoneBytesMax)
    return "limit: a price's zone of more than " + std::to_string(kZoneBytesMax) + " bytes";
  return std::move(read.broken());
}

std::string read_quota_group(const hostler_rec& record, std::string& name) {
  hostler_quota_group in;
  if (auto broken = copy_growable(&record, in); !broken.empty()) return broken;
  TextReader read;
  read.text(name, in.name, "the name of a quota group");
  if (in.name.len > model::kQuotaGroupBytesMax)
    return "limit: a quota group's name of more than " +
           std::to_string(model::kQuotaGroupBytesMax) + " bytes";
  if (printable(name) != name) return "R19: a quota group's name with control characters";
  return std::move(read.broken());
}

namespace {
/// The provider's own words, for a person who asks the provider: "(VcpuLimit, 10 of 10 used)".
std::string providers_words(const hostler_error& error, const std::string& code) {
  std::string out = code;
  if (error.quota_limit >= 0)
    out += (out.empty() ? "" : ", ") +
           (error.quota_used >= 0 ? std::to_string(error.quota_used) : std::string("?")) + " of " +
           std::to_string(error.quota_limit) + " used";
  return out.empty() ? out : " (" + out + ")";
}
}  // namespace

model::CloudError read_error(const hostler_error& error, hostler_status status,
                             std::span<const std::string> texts) {
  model::CloudError out;
  const auto* const known = find_status(status);
  out.cls = known != nullptr ? known->cls : CloudErrorClass::kInternal;  // R9
  out.message = texts[HOSTLER_TEXT_MESSAGE];
  if (known == nullptr && !out.message.empty()) out.message += " (" + status_name(status) + ")";
  if (!out.message.empty())
    out.message += providers_words(error, texts[HOSTLER_TEXT_PROVIDER_CODE]);
  out.scope = scope_of(error.scope);
  out.group = texts[HOSTLER_TEXT_SCOPE_GROUP];
  out.zone = texts[HOSTLER_TEXT_SCOPE_ZONE];
  out.subnet = texts[HOSTLER_TEXT_SCOPE_SUBNET];
  out.image = texts[HOSTLER_TEXT_SCOPE_IMAGE];
  if (error.retry_after_ms >= 0) {
    constexpr std::int64_t kDayMs = 86'400'000;
    out.retry_after = std::chrono::milliseconds(std::min(error.retry_after_ms, kDayMs));
  }
  out.outcome_unknown = (error.flags & HOSTLER_EF_OUTCOME_UNKNOWN) != 0;
  out.provider_code = texts[HOSTLER_TEXT_PROVIDER_CODE];
  out.request_id = texts[HOSTLER_TEXT_REQUEST_ID];
  out.quota_limit = error.quota_limit;
  out.quota_used = error.quota_used;
  return out;
}

std::uint32_t to_abi(model::Market market) {
  return market == model::Market::kSpot ? HOSTLER_MARKET_SPOT : HOSTLER_MARKET_ON_DEMAND;
}

std::vector<hostler_kv> to_abi(const model::Tags& tags) {
  std::vector<hostler_kv> out;
  out.reserve(tags.size());
  for (const auto& [key, value] : tags) out.push_back({to_abi(key), to_abi(value)});
  return out;
}

std::vector<hostler_str> to_abi(const std::vector<std::string>& texts) {
  std::vector<hostler_str> out;
  out.reserve(texts.size());
  for (const auto& text : texts) out.push_back(to_abi(text));
  return out;
}

hostler_instance_type to_abi(const model::InstanceType& type) {
  hostler_instance_type out{};
  out.struct_size = sizeof out;
  out.name = to_abi(type.name);
  out.provider_type = to_abi(type.provider_type);
  out.provider_params_json = to_abi(type.provider_params_json);
  out.ram_bytes = static_cast<std::uint64_t>(type.resources.ram);
  out.scratch_bytes = static_cast<std::uint64_t>(type.resources.scratch);
  out.price_micros_per_hour = type.price_per_hour.value;
  out.vcpus = static_cast<std::uint32_t>(type.resources.vcpus.whole());
  out.gpus = static_cast<std::uint32_t>(type.resources.gpus);
  out.market = to_abi(type.market);
  return out;
}

namespace {

/// The root disk with its size, and the scratch that is added to what the type has.
std::vector<hostler_disk> disks_of(const model::CreateRequest& request) {
  std::vector<hostler_disk> out;
  const auto add = [&out](std::uint32_t role, std::int64_t bytes) {
    if (bytes <= 0) return;
    auto& disk = out.emplace_back();
    disk.struct_size = sizeof disk;
    disk.role = role;
    disk.bytes = static_cast<std::uint64_t>(bytes);
  };
  add(HOSTLER_DISK_ROOT, request.placement.root_disk);
  add(HOSTLER_DISK_SCRATCH, request.type.added_scratch);
  return out;
}

}  // namespace

CreateArguments::CreateArguments(const model::CreateRequest& request)
    : type_(to_abi(request.type)),
      keys_(to_abi(request.ssh_public_keys)),
      groups_(to_abi(request.placement.security_groups)),
      profiles_(to_abi(request.placement.profiles)),
      tags_(to_abi(request.tags)),
      disks_(disks_of(request)) {
  for (const auto& disk : disks_) disk_list_.push_back(&disk);
  auto& r = request_;
  r.struct_size = sizeof r;
  r.idempotency_key = to_abi(request.idempotency_key);
  r.host_instance_id = to_abi(request.host_instance_id);
  r.owner = to_abi(request.owner);
  r.type = &type_;
  r.region = to_abi(request.region);
  r.zone = to_abi(request.zone);
  r.subnet = to_abi(request.subnet);
  r.image_id = to_abi(request.type.image_id);
  r.name_hint = to_abi(request.name_hint);
  r.ssh_host_key_private = to_abi(request.ssh_host_key_private);
  r.ssh_host_key_public = to_abi(request.ssh_host_key_public);
  r.ssh_public_keys = keys_.data();
  r.n_ssh_public_keys = keys_.size();
  r.security_groups = groups_.data();
  r.n_security_groups = groups_.size();
  r.profiles = profiles_.data();
  r.n_profiles = profiles_.size();
  r.tags = tags_.data();
  r.n_tags = tags_.size();
  r.disks = disk_list_.data();
  r.n_disks = disk_list_.size();
  r.placement_group = to_abi(request.placement.placement_group);
  r.capacity_reservation = to_abi(request.placement.capacity_reservation);
  r.identity_profile = to_abi(request.placement.identity_profile);
  r.tenancy = static_cast<std::uint32_t>(request.placement.tenancy);
  r.public_ip = static_cast<std::uint32_t>(request.placement.public_address);
  r.price_cap_micros_per_hour = request.price_cap_per_hour.value;
  r.market = to_abi(request.type.market);
  r.remote_user = to_abi(request.remote_user);
  if (request.user_data_format == model::UserDataFormat::kNone) return;
  user_data_.struct_size = sizeof user_data_;
  user_data_.format = request.user_data_format == model::UserDataFormat::kMime
                          ? HOSTLER_USER_DATA_MIME
                          : HOSTLER_USER_DATA_SH;
  user_data_.flags = HOSTLER_USER_DATA_SECRET;
  if (request.user_data_gzip) user_data_.flags |= HOSTLER_USER_DATA_GZIP;
  user_data_.bytes = reinterpret_cast<const std::uint8_t*>(request.user_data.data());
  user_data_.n_bytes = request.user_data.size();
  r.user_data = &user_data_;
}

}  // namespace hostler::plugin_host
