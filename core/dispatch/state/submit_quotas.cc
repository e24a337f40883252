#include "core/dispatch/state/submit_quotas.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string_view>

#include "core/base/units.h"

namespace hostler::dispatch {
namespace {

constexpr Duration kMinute = std::chrono::seconds(60);

std::string limit_text(const char* key, const std::string& principal, const std::string& value) {
  return std::string(key) + " of " + principal + " is " + value;
}

tl::unexpected<Error> beyond(const char* key, const std::string& principal, std::int64_t limit,
                             const std::string& there) {
  return fail(Errc::kOverQuota, limit_text(key, principal, std::to_string(limit)) + ": " + there);
}

bool exceeds(const std::optional<std::int64_t>& limit, std::uint64_t count) {
  return limit && count > static_cast<std::uint64_t>(*limit);
}

}  // namespace

/// The new jobs of a submit.
struct SubmitQuotas::Wanted {
  std::size_t jobs = 0;
  std::set<model::WorkShape> shapes;  ///< Of which none of the principal's jobs waits.
  std::int32_t priority = INT32_MIN;  ///< The highest.
};

SubmitQuotas::Wanted SubmitQuotas::wanted_of(const Submit& event) const {
  Wanted out;
  const auto principal = principals_.find(event.principal);
  std::set<std::string_view> keys;
  const model::WorkShape* last = nullptr;
  for (const model::WorkItem& item : event.work) {
    const std::string& key = item.client_key;
    if (!key.empty() && (principals_.client_keys().find(event.principal, key) != nullptr ||
                         !keys.insert(key).second))
      continue;
    ++out.jobs;
    out.priority = std::max(out.priority, item.shape.priority);
    if (last != nullptr && *last == item.shape) continue;  // An array is of one shape.
    last = &item.shape;
    const auto cls = waiting_.queue().find(item.shape, item.record.id.kind);
    if (!cls || !principal || !waiting_.queue().waits(*cls, *principal))
      out.shapes.insert(demand::Queue::class_shape(item.shape));
  }
  return out;
}

SubmitQuotas::Waiting SubmitQuotas::waiting_of(const std::string& principal) const {
  const auto& queue = waiting_.queue();
  const auto id = principals_.find(principal);
  if (!id || queue.count(*id) == 0) return {};
  return {.jobs = queue.count(*id), .shapes = queue.lanes(*id).size()};
}

Result<std::size_t> SubmitQuotas::check(const Submit& event, Mono now) {
  const std::string& who = event.principal;
  const Wanted wanted = wanted_of(event);
  if (wanted.jobs == 0) return 0;
  const model::Quota quota = policy_.quotas.of(who);
  if (quota.priority_max && wanted.priority > *quota.priority_max)
    return fail(Errc::kForbidden,
                "priority " + std::to_string(wanted.priority) + " is too high: " +
                    limit_text("priority_max", who, std::to_string(*quota.priority_max)) +
                    "; submit with a lower priority");
  const Waiting waiting = waiting_of(who);
  if (exceeds(quota.jobs_waiting_max, waiting.jobs + wanted.jobs))
    return beyond("jobs_waiting_max", who, *quota.jobs_waiting_max,
                  std::to_string(waiting.jobs) + " wait, and this submit has " +
                      std::to_string(wanted.jobs) +
                      " more; submit fewer, or wait until some have started");
  if (!wanted.shapes.empty() &&
      exceeds(quota.shapes_waiting_max, waiting.shapes + wanted.shapes.size()))
    return beyond("shapes_waiting_max", who, *quota.shapes_waiting_max,
                  "work of " + std::to_string(waiting.shapes) +
                      " different shapes waits, and this submit has " +
                      std::to_string(wanted.shapes.size()) +
                      " more shapes; submit fewer, or wait until some have started");
  HOSTLER_TRY(check_outputs(event, quota));
  HOSTLER_TRY(check_rate(who, quota, now));
  return wanted.jobs;
}

Result<void> SubmitQuotas::check_outputs(const Submit& event, const model::Quota& quota) {
  if (!quota.output_bytes_max) return {};
  if (!event.output_bytes)
    return fail(Errc::kUnavailable,
                "the kept outputs of " + event.principal + " are still being counted; try again");
  if (!exceeds(quota.output_bytes_max, *event.output_bytes)) return {};
  const auto there = static_cast<std::int64_t>(*event.output_bytes);
  return fail(Errc::kOverQuota,
              limit_text("output_bytes_max", event.principal, exact_size(*quota.output_bytes_max)) +
                  ": " + format_size(there) +
                  " of outputs are kept; delete some with 'hostler outputs rm'");
}

Result<void> SubmitQuotas::check_rate(const std::string& principal, const model::Quota& quota,
                                      Mono now) {
  if (!quota.submits_per_minute_max) {
    submits_.erase(principal);
    return {};
  }
  std::deque<Mono>& times = submits_[principal];
  while (!times.empty() && times.front() + kMinute <= now) times.pop_front();
  const auto limit = *quota.submits_per_minute_max;
  if (!exceeds(limit, times.size() + 1)) return {};
  const std::size_t too_many = times.size() + 1 - static_cast<std::size_t>(limit);
  Error error{Errc::kOverQuota,
              limit_text("submits_per_minute_max", principal, std::to_string(limit)) +
                  ": there were " + std::to_string(times.size()) +
                  " submits in the last 60 seconds"};
  if (limit > 0) {
    const Duration wait = times[too_many - 1] + kMinute - now;
    error.retry_after_s = std::chrono::ceil<std::chrono::seconds>(wait).count();
  }
  return tl::unexpected(std::move(error));
}

void SubmitQuotas::count_submit(const std::string& principal, Mono now) {
  // Without a limit there is no list, so that it cannot grow.
  if (const auto limited = submits_.find(principal); limited != submits_.end())
    limited->second.push_back(now);
}

std::uint64_t SubmitQuotas::submits_since(const std::string& principal, Mono time) const {
  const auto found = submits_.find(principal);
  if (found == submits_.end()) return 0;
  return static_cast<std::uint64_t>(
      std::ranges::count_if(found->second, [&](Mono one) { return one > time; }));
}

model::QuotaView SubmitQuotas::view(const std::string& principal, Mono now) const {
  model::QuotaView out;
  out.principal = principal;
  out.role = policy_.quotas.role_of(principal);
  out.quota = policy_.quotas.of(principal);
  const Waiting waiting = waiting_of(principal);
  out.jobs_waiting = waiting.jobs;
  out.shapes_waiting = waiting.shapes;
  out.submits_last_minute = submits_since(principal, now - kMinute);
  const auto held = principals_.held_by(principal);
  out.running_vcpus = held.vcpus;
  out.running_gpus = held.gpus;
  out.running_price_per_hour = held.price_per_hour;
  return out;
}

}  // namespace hostler::dispatch
