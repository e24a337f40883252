#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "core/plugin_host/abi_values.h"
#include "core/plugin_host/extension_values.h"
#include "core/plugin_host/first_sizes.h"
#include "core/plugin_host/operation.h"
#include "tests/fuzz/target.h"

/// What a driver emits, as C structs: whole, short, too long, with texts of any kind.
namespace hostler::fuzz {
namespace {

using plugin_host::kRecordBytesMax;

/// A driver's memory: every text in an allocation of just its size, as the driver's own would be.
class DriverMemory {
 public:
  explicit DriverMemory(Bytes& in) : in_(in) {}

  hostler_str text() {
    const std::uint8_t kind = in_.byte();
    if (kind == 255) return {nullptr, in_.byte()};
    // Now and then one that is near what a record may hold.
    const std::string_view said = in_.take(kind % 64U);
    std::vector<char>& kept = texts_.emplace_back(said.begin(), said.end());
    if (kind >= 224) kept.resize(kept.size() + (kRecordBytesMax >> (kind % 8U)), 'x');
    kept.shrink_to_fit();
    return {kept.data(), kept.size()};
  }
  const hostler_kv* tags(std::size_t& n) {
    n = in_.byte() % 8U;
    if (in_.byte() == 255) return nullptr;
    tags_.resize(n);
    for (hostler_kv& tag : tags_) tag = {text(), text()};
    return tags_.data();
  }
  const hostler_gpu_group* gpu_groups(std::size_t& n) {
    n = in_.byte() % 12U;
    if (in_.byte() == 255) return nullptr;
    gpu_groups_.resize(n);
    for (hostler_gpu_group& group : gpu_groups_)
      group = {text(), in_.u64() >> in_.byte() % 64U, in_.byte(), 0};
    return gpu_groups_.data();
  }
  const hostler_address* addresses(std::size_t& n) {
    n = in_.byte() % 4U;
    if (in_.byte() == 255) return nullptr;
    addresses_.resize(n);
    for (hostler_address& address : addresses_) address.text = text();
    return addresses_.data();
  }

 private:
  Bytes& in_;
  std::deque<std::vector<char>> texts_;
  std::vector<hostler_kv> tags_;
  std::vector<hostler_address> addresses_;
  std::vector<hostler_gpu_group> gpu_groups_;
};

/// The record in an allocation of the size that it says it has, if that is what a driver may say.
template <class T, class Read>
std::string emit(T record, Bytes& in, Read read) {
  const std::uint8_t kind = in.byte();
  record.struct_size = kind < 250 ? sizeof(T) + kind % 16U * 8U : in.u16();
  std::vector<char> memory(std::max<std::size_t>(record.struct_size, sizeof(T)));
  std::memcpy(memory.data(), &record, sizeof(T));
  if (record.struct_size < sizeof(T)) memory.resize(std::max<std::size_t>(record.struct_size, 8));
  memory.shrink_to_fit();
  const std::string broken = read(*reinterpret_cast<const hostler_rec*>(memory.data()));
  promise(is_utf8(broken) && broken.find('\n') == std::string::npos, "a rule is one line", broken);
  promise(record.struct_size >= plugin_host::kFirstSize<T> || !broken.empty(),
          "a short record breaks a rule");
  return broken;
}

void check_texts(std::initializer_list<const std::string*> texts) {
  std::size_t bytes = 0;
  for (const std::string* text : texts) {
    promise(is_utf8(*text), "a text is UTF-8", *text);
    bytes += text->size();
  }
  promise(bytes <= kRecordBytesMax, "a record is bounded");
}

bool is_price(model::Micros price) { return price.value >= 0 && price <= model::kPriceMax; }

void instance(Bytes& in) {
  DriverMemory memory(in);
  hostler_instance record{};
  record.kind = HOSTLER_REC_INSTANCE;
  for (hostler_str* text :
       {&record.id, &record.request_id, &record.idempotency_key, &record.set_id, &record.owner,
        &record.zone, &record.remote_user, &record.state_reason, &record.state_error})
    *text = memory.text();
  record.addresses = memory.addresses(record.n_addresses);
  record.tags = memory.tags(record.n_tags);
  for (std::int64_t* number :
       {&record.created_unix_ns, &record.interruption_unix_ns, &record.price_micros_per_hour})
    *number = static_cast<std::int64_t>(in.u64());
  record.state = in.byte();
  record.market = in.byte();
  record.flags = in.byte();
  record.ssh_port = static_cast<std::uint32_t>(in.u64());
  model::ListedInstance out;
  plugin_host::TextsLeft left;
  const auto broken = emit(record, in, [&](const auto& rec) {
    return plugin_host::read_instance(rec, model::AddressChoice::kAny, out, left);
  });
  check_texts({&out.id, &out.request_id, &out.idempotency_key, &out.set_id, &out.owner, &out.zone,
               &out.remote_user, &out.address, &out.pool, &out.type, &out.idle});
  promise(out.state_reason.find('\n') == std::string::npos, "a reason is one line");
  promise(out.state_error.find('\n') == std::string::npos, "an error is one line");
  if (!broken.empty()) return;
  promise(!out.id.empty() && out.ssh_port != 0, "a good instance has id and port");
  promise(!out.price_per_hour || is_price(*out.price_per_hour), "a price is in its range");
  promise(out.state <= model::CloudState::kFailed, "a state is one of ours");
}

void set_info(Bytes& in) {
  DriverMemory memory(in);
  hostler_set_info record{};
  record.kind = HOSTLER_REC_SET_INFO;
  for (hostler_str* text : {&record.account_id, &record.region, &record.currency})
    *text = memory.text();
  for (std::uint64_t* number : {&record.capabilities, &record.list_consistency_ms,
                                &record.list_interval_min_ms, &record.user_data_max_bytes})
    *number = in.u64();
  model::SetInfo out;
  const auto broken =
      emit(record, in, [&](const auto& rec) { return plugin_host::read_set_info(rec, out); });
  check_texts({&out.account_id, &out.region, &out.currency});
  promise(!broken.empty() ||
              std::max(out.account_id.size(), out.region.size()) <= model::kAccountBytesMax,
          "an account is bounded");
  promise(out.list_consistency.count() >= 0 && out.list_consistency <= std::chrono::hours(24) &&
              out.list_interval_min <= std::chrono::hours(24),
          "a pause is at most a day");
}

void price(Bytes& in) {
  DriverMemory memory(in);
  hostler_price record{};
  record.kind = HOSTLER_REC_PRICE;
  record.zone = memory.text();
  record.start_unix_ns = static_cast<std::int64_t>(in.u64());
  record.price_micros_per_hour = static_cast<std::int64_t>(in.u64());
  model::ZonePrice out;
  const auto broken =
      emit(record, in, [&](const auto& rec) { return plugin_host::read_price(rec, out); });
  check_texts({&out.zone});
  promise(!broken.empty() || is_price(out.point.per_hour), "a price is in its range");
}

void offering(Bytes& in) {
  DriverMemory memory(in);
  hostler_offering record{};
  record.kind = HOSTLER_REC_OFFERING;
  for (hostler_str* text :
       {&record.provider_type, &record.region, &record.zone, &record.architecture})
    *text = memory.text();
  record.price_micros_per_hour = static_cast<std::int64_t>(in.u64());
  record.gpus = in.byte();
  record.gpu_groups = memory.gpu_groups(record.n_gpu_groups);
  model::CloudOffering out;
  plugin_host::TextsLeft left;
  const auto broken =
      emit(record, in, [&](const auto& rec) { return plugin_host::read_offering(rec, out, left); });
  check_texts({&out.provider_type, &out.region, &out.zone, &out.architecture});
  if (!broken.empty()) return;
  promise(!out.price_per_hour || is_price(*out.price_per_hour), "a price is in its range");
  promise(out.gpu_groups.size() <= model::kGpuKindsMax, "groups of gpus are few");
  std::int64_t sum = 0;
  for (const auto& group : out.gpu_groups) {
    promise(group.kind.empty() || model::is_gpu_kind(group.kind), "a kind has its form",
            group.kind);
    promise(group.memory >= 0, "a memory is a size");
    sum += group.count;
  }
  promise(out.gpu_groups.empty() || sum == out.resources.gpus, "groups are of all gpus");
}

void error(Bytes& in) {
  hostler_error record{};
  record.scope = static_cast<std::uint32_t>(in.u64());
  record.retry_after_ms = static_cast<std::int64_t>(in.u64());
  record.flags = in.byte();
  const auto status = static_cast<hostler_status>(static_cast<std::uint32_t>(in.u64()));
  std::array<std::string, HOSTLER_TEXT_SCOPE_IMAGE + 1> texts;
  for (std::string& text : texts) text = printable(in.text());
  const model::CloudError out = plugin_host::read_error(record, status, texts);
  promise(out.message.starts_with(texts[HOSTLER_TEXT_MESSAGE]), "the driver's words are kept");
  promise(!out.retry_after ||
              (out.retry_after->count() >= 0 && *out.retry_after <= std::chrono::hours(24)),
          "a retry comes within a day");
}

}  // namespace
}  // namespace hostler::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hostler::fuzz::Bytes in(data, size);
  constexpr std::array kKinds{hostler::fuzz::instance, hostler::fuzz::set_info,
                              hostler::fuzz::price, hostler::fuzz::error, hostler::fuzz::offering};
  kKinds.at(in.byte() % kKinds.size())(in);
  return 0;
}
