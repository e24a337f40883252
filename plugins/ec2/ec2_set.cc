#include "ec2_set.h"

#include <map>

#include "find_instances.h"
#include "record.h"
#include "services.h"

namespace hostler::ec2 {
namespace {

using driver::Error;
using driver::str;
using driver::view;

/// Creates that are PENDING at once, and one or two watches.
constexpr std::size_t kWorkersMax = 130;

/// EC2 compares them too, and keeps to the rules of a pattern where it does.
bool has_all(const Instance& instance, const hostler_list_req& request) {
  for (std::size_t i = 0; i < request.n_tag_filter; ++i) {
    const auto found = instance.tags.find(text(request.tag_filter[i].key));
    if (found == instance.tags.end() || found->second != view(request.tag_filter[i].value))
      return false;
  }
  return true;
}

void check_set(const Instance& found, const hostler_str& expected) {
  if (expected.len == 0 || found.set_id == view(expected)) return;
  throw Error(HOSTLER_E_CONFLICT,
              found.id + " belongs to " +
                  (found.set_id.empty() ? "no set of hostler" : "the set " + found.set_id));
}

}  // namespace

driver::About Ec2Set::about() {
  return {"ec2",         HOSTLER_EC2_VERSION,       "hostler", "Apache-2.0",
          kConfigSchema, HOSTLER_THREAD_CONCURRENT, 32};
}

Ec2Set::Ec2Set(const hostler_host& host, const hostler_set_config& config, hostler_op* op)
    : Ec2Set(config, make_transports(read_config(text(config.config_json))), op) {
  driver::log(host, HOSTLER_LOG_INFO, "account " + account_ + ", region " + config_.region, op);
}

Ec2Set::Ec2Set(const hostler_set_config& config, const Transports& transports, hostler_op* op)
    : set_id_(text(config.set_id)),
      config_(read_config(text(config.config_json))),
      shared_tags_(read_tags(config.shared_tags, config.n_shared_tags)),
      keys_(make_key_source(config_, read_credentials(text(config.credentials_json)), transports)),
      ec2_(transports.ec2, ec2_service(config_, transports), keys_),
      sts_(transports.sts, sts_service(config_, transports), keys_),
      key_pairs_(ec2_, set_id_),
      spot_prices_(ec2_, config_.spot_price_interval_ms),
      terminator_(ec2_, workers_),
      workers_(kWorkersMax) {
  open(op);
}

/// Who it is, whether it may list, and whether the subnets are there.
void Ec2Set::open(hostler_op* op) {
  with_context("open the region " + config_.region, [&] {
    const Answer who = sts_.ask(Query("GetCallerIdentity"), op);
    account_ = text_of(who.need("GetCallerIdentityResult"), "Account");
    if (account_.empty()) throw_not_amazon("an identity without an account");
    Query mine("DescribeInstances");
    mine.add_filter("tag:" + std::string(kSetTag), {set_id_});
    mine.add("MaxResults", "5");
    (void)ec2_.ask(mine, op).need("reservationSet");
    for (const std::string& subnet : config_.subnets) zones(subnet, op);
  });
  read_on_demand_prices();
}

void Ec2Set::info(const hostler_set_info_req&, hostler_op* op) {
  auto out = driver::set_info_record();
  out.account_id = str(account_);
  out.region = str(config_.region);
  out.currency = str(config_.region.compare(0, 3, "cn-") == 0 ? "CNY" : "USD");
  out.capabilities = HOSTLER_CAP_CREATE_TOKEN_NATIVE | HOSTLER_CAP_USER_DATA |
                     HOSTLER_CAP_USER_DATA_GZIP | HOSTLER_CAP_USER_DATA_MIME | HOSTLER_CAP_SPOT |
                     HOSTLER_CAP_STOP;
  out.list_consistency_ms = static_cast<std::uint64_t>(config_.list_consistency_ms);
  out.user_data_max_bytes = kUserDataMax;
  out.tags_max = 46;  // of 50, less those of the driver
  out.tag_key_max = 127;
  out.tag_value_max = 255;
  out.name_max = 63;
  driver::emit(op, out);
}

void Ec2Set::list(const hostler_list_req& request, hostler_op* op) {
  with_context("list instances", [&] {
    std::map<std::string, Instance> found;
    std::vector<std::string> all;
    for (std::size_t i = 0; i < request.n_ids; ++i) all.push_back(text(request.ids[i]));
    for_each_filter(all, [&](const std::vector<std::string>& ids) {
      Query query("DescribeInstances");
      if (!ids.empty()) query.add_filter("instance-id", ids);
      for (std::size_t i = 0; i < request.n_tag_filter; ++i)
        query.add_filter("tag:" + text(request.tag_filter[i].key),
                         {text(request.tag_filter[i].value)});
      found.merge(find_instances(ec2_, query, op));
    });
    for (const auto& [id, one] : found)  // nothing is emitted of a list that is not whole
      if (has_all(one, request)) emit(one, op);
  });
}

/// With what is known of it beside EC2's list.
void Ec2Set::emit(const Instance& instance, hostler_op* op) {
  Extra extra;
  if (instance.is_spot) extra.micros_per_hour = spot_prices_.known(instance.type, instance.zone);
  {
    const std::lock_guard lock(mutex_);
    const auto price = on_demand_.find(instance.type);
    if (!instance.is_spot && price != on_demand_.end()) extra.micros_per_hour = price->second;
    const auto notice = notices_.all().find(instance.id);
    // A list cannot say that an instance will only be stopped or rebooted: the watch says it.
    if (notice != notices_.all().end() && notice->second.action == HOSTLER_INTERRUPTION_TERMINATE)
      extra.interruption_unix_ns = notice->second.interruption_unix_ns;
  }
  emit_instance(instance, extra, op);
}

std::vector<Instance> Ec2Set::look_at(const std::vector<std::string>& ids, hostler_op* op) const {
  Query query("DescribeInstances");
  std::vector<Instance> out;
  for (auto& [id, one] : find_instances(ec2_, query.add_filter("instance-id", ids), op))
    out.push_back(std::move(one));
  return out;
}

Instance Ec2Set::find_ours(const hostler_str& id, const hostler_str& expected_set,
                           hostler_op* op) const {
  const auto found = with_context("look at " + text(id), [&] { return look_at({text(id)}, op); });
  if (found.empty() || found[0].state == HOSTLER_STATE_GONE)
    throw Error(HOSTLER_E_NOT_FOUND, "there is no instance " + text(id));
  check_set(found[0], expected_set);
  return found[0];
}

void Ec2Set::destroy(const hostler_destroy_req& request, hostler_op* op) {
  terminator_.end(text(request.id), text(request.expected_set_id), request.idempotency_key.len != 0,
                  op);
}

}  // namespace hostler::ec2
