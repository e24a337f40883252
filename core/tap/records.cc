#include "core/tap/records.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <set>
#include <utility>

#include "core/base/text.h"
#include "core/tap/members.h"
#include "core/tap/recording.h"

namespace hostler::tap {
namespace {

/// Of the records of a line, and of the ids that are gone; the rest of a line needs less than what
/// is left.
constexpr std::size_t kRecordsBytesMax = kLineBytesMax / 2, kGoneBytesMax = kLineBytesMax / 8;

std::int64_t us(Duration d) {
  return std::chrono::duration_cast<std::chrono::microseconds>(d).count();
}

bool append_to(std::string& list, const std::string& item, std::size_t bytes_max) {
  if (list.size() + item.size() + 1 > bytes_max) return false;
  if (!list.empty()) list += ',';
  list += item;
  return true;
}

}  // namespace

std::string record_of(const model::SetInfo& info, const Secrets& secrets) {
  return object_of(secrets, [&](Members& m) {
    m.text("account", info.account_id);
    m.text("region", info.region);
    m.text("currency", info.currency);
    m.number("max_concurrency", info.max_concurrency);
    m.number("list_consistency_us", us(info.list_consistency));
    m.number("list_interval_min_us", us(info.list_interval_min));
    m.number("user_data_max_bytes", info.user_data_max_bytes);
    m.number("tags_max", info.tags_max);
    m.flag("create_token_native", info.create_token_native);
    m.flag("host_key_inject", info.host_key_inject);
    m.flag("user_data", info.user_data);
    m.flag("spot", info.spot);
    m.flag("stop", info.stop);
    m.flag("host_key", info.has_host_key_extension);
    m.flag("price_history", info.has_price_history);
    m.flag("power", info.has_power);
    m.flag("console", info.has_console);
    m.flag("leftovers", info.has_leftovers);
  });
}

std::string record_of(const model::ListedInstance& instance, const Secrets& secrets) {
  return object_of(secrets, [&](Members& m) {
    m.text("id", instance.id);
    m.text("request_id", instance.request_id);
    m.hash("key", instance.idempotency_key);
    m.text("set_id", instance.set_id);
    m.text("owner", instance.owner);
    m.text("zone", instance.zone);
    m.text("address", instance.address);
    m.number("ssh_port", instance.ssh_port);
    m.text("remote_user", instance.remote_user);
    m.text("market", to_string(instance.market));
    if (instance.price_per_hour) m.money("price_per_hour", *instance.price_per_hour);
    m.text("state", to_string(instance.state));
    m.sentence("state_reason", instance.state_reason);
    m.sentence("state_error", instance.state_error);
    if (instance.shortage) m.text("shortage", to_string(instance.shortage->cls));
    m.wall("created_us", instance.created);
    m.wall("interruption_us", instance.interruption);
    m.text("pool", instance.pool);
    m.text("type", instance.type);
    m.text("idle", instance.idle);
    m.number("epoch", instance.epoch);
    m.flag("tags_unknown", instance.tags_unknown);
  });
}

std::string record_of(const model::ZonePrice& price, const Secrets& secrets) {
  return object_of(secrets, [&](Members& m) {
    m.text("zone", price.zone);
    m.text("market", to_string(price.market));
    m.wall("from_us", price.point.start);
    m.money("price_per_hour", price.point.per_hour);
  });
}

std::string record_of(const std::string& quota_group, const Secrets& secrets) {
  return object_of(secrets, [&](Members& m) { m.text("quota_group", quota_group); });
}

std::string record_of(const model::CloudOffering& offering, const Secrets& secrets) {
  return object_of(secrets, [&](Members& m) {
    m.text("provider_type", offering.provider_type);
    m.text("region", offering.region);
    m.text("zone", offering.zone);
    m.text("architecture", offering.architecture);
    m.number("vcpus", offering.resources.vcpus.whole());
    m.number("gpus", offering.resources.gpus);
    m.gpu_groups("gpu_groups", offering.gpu_groups);
    m.number("ram", offering.resources.ram);
    m.number("scratch", offering.resources.scratch);
    if (offering.price_per_hour) m.money("price_per_hour", *offering.price_per_hour);
    m.text("market", to_string(offering.market));
    m.number("available", static_cast<int>(offering.available));
  });
}

std::string record_of(const model::Interruption& notice, const Secrets& secrets) {
  return object_of(secrets, [&](Members& m) {
    m.text("id", notice.instance_id);
    m.sentence("text", notice.text);
    m.wall("at_us", notice.at);
    m.text("action", to_string(notice.action));
  });
}

std::string record_of(const model::ConsoleText& console, const Secrets& secrets) {
  return object_of(secrets, [&](Members& m) {
    m.number("offset", console.offset);
    m.number("bytes", console.bytes.size());
    m.wall("as_of_us", console.as_of);
  });
}

std::string record_of(const model::Leftover& leftover, const Secrets& secrets) {
  return object_of(secrets, [&](Members& m) {
    m.text("type", leftover.type);
    m.text("id", leftover.id);
    m.text("instance_id", leftover.instance_id);
    m.tags("tags", leftover.tags);
    m.wall("created_us", leftover.created);
  });
}

std::string record_of(const model::Image& image, const Secrets& secrets) {
  return object_of(secrets, [&](Members& m) {
    m.text("id", image.id);
    m.text("name", image.name);
    m.text("owner", image.owner);
    m.text("architecture", image.architecture);
    m.wall("created_us", image.created);
  });
}

std::string error_to_json(const model::CloudError& error, const Secrets& secrets) {
  return object_of(secrets, [&](Members& m) {
    m.sentence("message", error.message);
    m.number("scope", error.scope);
    m.text("type", error.type);
    m.text("group", error.group);
    m.text("zone", error.zone);
    m.text("subnet", error.subnet);
    m.text("region", error.region);
    m.text("image", error.image);
    if (error.retry_after) m.number("retry_after_us", us(*error.retry_after));
    m.flag("outcome_unknown", error.outcome_unknown);
    m.text("provider_code", error.provider_code);
    m.flag("crash", error.crash.has_value());
  });
}

bool Records::add(const std::string& record) {
  const bool fits = append_to(records_, record, kRecordsBytesMax);
  if (!fits) ++left_out_;
  return fits;
}

bool Records::add_gone(const std::string& id) {
  std::string text;
  json::Writer(text).value(id);
  return append_to(gone_, text, kGoneBytesMax);
}

std::string Records::members() const {
  std::string out = "\"records\":[" + records_ + "]";
  if (left_out_ > 0) out += ",\"left_out\":" + std::to_string(left_out_);
  if (same_ > 0) out += ",\"same\":" + std::to_string(same_);
  if (!gone_.empty()) out += ",\"gone\":[" + gone_ + "]";
  return out;
}

void ListChanges::add_records(const std::vector<model::ListedInstance>& all, const Secrets& secrets,
                              Records& out) {
  const MutexLock lock(mutex_);
  std::set<std::string> there;
  for (const model::ListedInstance& one : all) {
    const std::string record = record_of(one, secrets);
    const std::uint64_t hash = fnv1a(record);
    there.insert(one.id);
    const auto before = seen_.find(one.id);
    if (before != seen_.end() && before->second == hash)
      out.count_same();
    else if (out.add(record))
      seen_[one.id] = hash;
  }
  for (auto it = seen_.begin(); it != seen_.end();) {
    const bool is_gone = !there.contains(it->first);
    if (is_gone && out.add_gone(secrets.clean(it->first)))
      it = seen_.erase(it);
    else
      ++it;
  }
}

void ListChanges::forget() {
  const MutexLock lock(mutex_);
  seen_.clear();
}

}  // namespace hostler::tap
