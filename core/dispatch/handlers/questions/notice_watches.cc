#include "core/dispatch/handlers/questions/notice_watches.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/base/text.h"

namespace hostler::dispatch {
namespace {

using namespace std::chrono_literals;

constexpr Duration kWatchTime = 5min;
constexpr Duration kWatchPause = 5s, kWatchPauseMax = 5min;  ///< After failures.
constexpr Duration kWatchGatePause = 1s;
constexpr Duration kIgnoredToldAgain = 1h;
constexpr std::size_t kIgnoredNames = 3;

gates::GateQuery watch_query(const Set& set) {
  return {.set = set.name, .op = model::CloudOp::kWatch};
}

}  // namespace

void NoticeWatches::send_due(std::uint32_t index, Now now) {
  const Set& set = sets_.at(index);
  SetWatch& watch = watches_.of(index);
  if (watch.number && !watch.stands && watch.sent + Watches::kStands <= now.mono) {
    // Its end is minutes away: for gates it counts as answered.
    watch.stands = true;
    watch.failures = 0;
    watch.error.clear();
    gates_.answered(watch_query(set), nullptr, now);
  }
  if (!set.is_open() || watch.number || !watch.supported || watch.next > now.mono) return;
  if (const auto* gate = gates_.shut(watch_query(set), now.mono)) {
    watch.next = std::max(gate->until, now.mono + kWatchGatePause);
    return;
  }
  gates_.sent(watch_query(set), now.mono);
  watch.number = ++watches_sent_;
  watch.sent = now.mono;
  watch.stands = false;
  recorder_.effect(
      WatchCall{set.name, watches_sent_, kWatchTime, std::exchange(watch.after_commit, false)});
}

void NoticeWatches::on(const NoticesSeen& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index || watches_.of(*index).number != event.number) return;
  std::unordered_map<std::string_view, model::InstanceId> by_id;
  for (const auto& [id, host] : hosts_.all()) {
    const auto& record = host.instance.record;
    if (host.instance.set != *index || record.provider_id.empty()) continue;
    by_id.emplace(record.provider_id, id);
    if (!record.request_id.empty()) by_id.emplace(record.request_id, id);
  }
  std::size_t ignored = 0;
  std::vector<std::string> names;
  for (const auto& notice : event.notices) {
    const auto known = by_id.find(notice.instance_id);
    Host* host = known == by_id.end() ? nullptr : hosts_.change(known->second);
    if (host != nullptr) {
      interruptions_.noticed(*host,
                             {.source = model::NoticeSource::kDriver,
                              .action = notice.action,
                              .noticed = {},
                              .at = notice.at,
                              .text = notice.text},
                             "cloud", now);
      continue;
    }
    if (++ignored <= kIgnoredNames)
      names.push_back(printable(notice.instance_id, model::kForeignNameMax));
  }
  if (ignored > 0) tell_ignored(*index, names, ignored, now);
}

/// An account may have instances of others, and the cloud may tell of what is gone here.
void NoticeWatches::tell_ignored(std::uint32_t index, const std::vector<std::string>& names,
                                 std::size_t count, Now now) {
  SetWatch& watch = watches_.of(index);
  watch.ignored += count;
  if (watch.ignored_told && now.mono - *watch.ignored_told < kIgnoredToldAgain) return;
  watch.ignored_told = now.mono;
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  if (count > names.size()) text += " and " + std::to_string(count - names.size()) + " more";
  recorder_.record("cloud", "set " + sets_.at(index).name, model::Event::kNoticesIgnored, "",
                   "the set has no instance " + text, now);
}

void NoticeWatches::on(const WatchEnded& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index || watches_.of(*index).number != event.number) return;
  ended(*index, event.error ? &*event.error : nullptr, now);
}

void NoticeWatches::ended(std::uint32_t index, const model::CloudError* error, Now now) {
  const Set& set = sets_.at(index);
  SetWatch& watch = watches_.of(index);
  watch.number.reset();
  if (error == nullptr) {
    gates_.answered(watch_query(set), nullptr, now);
    // One that does not last must not be made again and again.
    const bool has_lasted = watch.stands || now.mono - watch.sent >= Watches::kStands;
    watch.failures = has_lasted ? 0 : watch.failures + 1;
    watch.next =
        now.mono + (has_lasted ? Duration::zero()
                               : fleet::backoff(watch.failures, kWatchPause, kWatchPauseMax));
    return;
  }
  auto of_it = *error;
  if (watch.stands) of_it.crash.reset();  // The driver died of another call.
  gates_.side_call_answered(watch_query(set), &of_it, now);
  if (error->cls == model::CloudErrorClass::kUnsupported) {
    watch.supported = false;
    return;
  }
  ++watch.failures;
  const Duration asked = std::min(error->retry_after.value_or(Duration{}), kAskedPauseMax);
  watch.next =
      now.mono + std::max(asked, fleet::backoff(watch.failures, kWatchPause, kWatchPauseMax));
  if (error->cls == model::CloudErrorClass::kCancelled) return;  // Its driver was replaced.
  const bool is_news = watch.error.empty();
  watch.error = error->message;
  if (is_news)
    recorder_.record("cloud", "set " + set.name, model::Event::kWatchFailed,
                     model::to_string(error->cls), error->message, now);
}

void NoticeWatches::on(const SuccessorOpened& event, Now now) {
  if (event.result) begin_anew(event.set, now);
}

void NoticeWatches::on(const AcceptAccount& event, Now now) { begin_anew(event.set, now); }

void NoticeWatches::begin_anew(const std::string& set, Now now) {
  const auto index = sets_.index_of(set);
  if (!index) return;
  SetWatch& watch = watches_.of(*index);
  if (watch.number && !watch.stands) gates_.answered(watch_query(sets_.at(*index)), nullptr, now);
  watch.number.reset();  // What the driver before says is of no interest.
  // At once, it would be a call of that driver, whose answer would count for this one.
  watch.after_commit = true;
  watch.supported = true;
  watch.failures = 0;
  watch.next = now.mono;
}

}  // namespace hostler::dispatch
