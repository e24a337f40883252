// The views of prices, costs, quotas and shares.
#include <chrono>
#include <cstdint>
#include <optional>

#include "core/api/access.h"
#include "core/api/view_members.h"
#include "core/api/views_json.h"

namespace hostler::api {

void write_prices(json::Writer& w, const PricesView& view) {
  w.begin_object().key("prices").begin_array();
  for (const auto& price : view.prices) {
    w.begin_object().member("set", price.set).member("type", price.type);
    member_text(w, "zone", price.zone);
    w.member("market", model::to_string(price.market));
    member_time(w, "start", price.point.start);
    w.key("price_per_hour").millionths(price.point.per_hour.value).end_object();
  }
  w.end_array().member("more", view.more).end_object();
}

void write_cost(json::Writer& w, const model::CostView& view) {
  w.begin_object();
  member_time(w, "since", view.since);
  member_time(w, "until", view.until);
  if (view.total) w.key("total").millionths(view.total->value);
  if (view.unused) w.key("unused").millionths(view.unused->value);
  w.key("rows").begin_array();
  for (const auto& row : view.rows) {
    w.begin_object().member("name", row.name).key("cost").millionths(row.cost.value);
    w.member("seconds", row.used_us / 1'000'000).end_object();
  }
  w.end_array().member("more", view.more);
  if (!view.doubts.empty()) {
    w.key("doubts").begin_array();
    for (const auto& doubt : view.doubts) w.value(doubt);
    w.end_array();
  }
  w.end_object();
}

void write_quota(json::Writer& w, const model::QuotaView& view) {
  const model::Quota& quota = view.quota;
  const auto limit = [&](const char* key, const std::optional<std::int64_t>& value) {
    if (value) w.member(key, *value);
  };
  w.begin_object().member("principal", view.principal).member("role", to_string(view.role));
  w.key("limits").begin_object();
  limit("jobs_waiting_max", quota.jobs_waiting_max);
  limit("shapes_waiting_max", quota.shapes_waiting_max);
  limit("submits_per_minute_max", quota.submits_per_minute_max);
  limit("blob_bytes_max", quota.blob_bytes_max);
  limit("output_bytes_max", quota.output_bytes_max);
  limit("priority_max", quota.priority_max);
  if (const auto& vcpus = quota.running_vcpus_max)
    w.key("running_vcpus_max").thousandths(vcpus->thousandths());
  limit("running_gpus_max", quota.running_gpus_max);
  if (const auto& price = quota.running_price_per_hour_max)
    w.key("running_price_per_hour_max").millionths(price->value);
  w.end_object().key("now").begin_object();
  w.member("jobs_waiting", view.jobs_waiting).member("shapes_waiting", view.shapes_waiting);
  w.member("submits_last_minute", view.submits_last_minute);
  w.member("blob_bytes", view.blob_bytes).member("output_bytes", view.output_bytes);
  w.key("running_vcpus").thousandths(view.running_vcpus.thousandths());
  w.member("running_gpus", view.running_gpus);
  w.key("running_price_per_hour").millionths(view.running_price_per_hour.value);
  w.end_object().end_object();
}

void write_shares(json::Writer& w, const model::SharesView& view) {
  w.begin_object().member("half_life_seconds",
                          std::chrono::duration_cast<std::chrono::seconds>(view.half_life).count());
  w.key("recent_use").millionths(view.use.value);
  w.key("principals").begin_array();
  for (const auto& one : view.principals) {
    w.begin_object().member("principal", one.principal);
    w.key("recent_use").millionths(one.use.value);
    w.key("percent").millionths(percent(one.part));
    w.key("price_per_hour").millionths(one.price_per_hour.value);
    w.key("vcpus").thousandths(one.vcpus.thousandths());
    w.member("gpus", one.gpus);
    w.member("running", one.running).member("waiting", one.waiting);
    if (one.gpus_max) w.member("gpus_max", *one.gpus_max);
    if (one.vcpus_max) w.key("vcpus_max").thousandths(one.vcpus_max->thousandths());
    if (one.price_per_hour_max)
      w.key("price_per_hour_max").millionths(one.price_per_hour_max->value);
    w.end_object();
  }
  w.end_array().end_object();
}

}  // namespace hostler::api
