#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ec2_set.h"
#include "notices.h"

namespace hostler::ec2 {

using driver::Error;
using driver::str;

namespace {

using Milliseconds = std::chrono::milliseconds;

/// Scheduled events are known for days: one look in so many, at 10 s every two minutes.
constexpr int kLooksPerScheduled = 12;

void emit_notice(const std::string& instance, const Notice& notice, hostler_op* op) {
  auto out = driver::interruption_record();
  out.instance_id = str(instance);
  out.text = str(notice.text);
  out.interruption_unix_ns = notice.interruption_unix_ns;
  out.action = notice.action;
  driver::emit(op, out);
}

std::int64_t unix_now_ns() {
  return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Nothing if EC2 does not answer: what it has said goes first, and the next look asks again.
std::optional<std::set<std::string>> find_undisturbed(const Api& api,
                                                      const std::vector<std::string>& instances,
                                                      hostler_op* op) {
  try {
    return undisturbed(api, instances, op);
  } catch (const Refused&) {
    return std::nullopt;
  } catch (const http::NoAnswer&) {
    return std::nullopt;
  }
}

}  // namespace

hostler_status Ec2Set::watch(const hostler_interruption_req&, hostler_op* op) {
  const bool runs =
      workers_.run([this, op] { driver::finish(op, [&] { watch_until_cancelled(op); }); });
  if (!runs) throw Error(HOSTLER_E_TRANSIENT, "there are too many calls at once");
  return HOSTLER_PENDING;
}

/// A look that fails leaves the notices as they are: the next one finds them again.
void Ec2Set::watch_until_cancelled(hostler_op* op) {
  KnownNotices known;
  {
    const std::lock_guard lock(mutex_);
    known = notices_;
  }
  known.begin_watch();
  Notices scheduled;
  int looks = 0;
  Milliseconds pause(config_.interruption_interval_ms);
  while (op->is_cancelled(op) == 0) {
    try {
      Notices said = spot_notices(ec2_, set_id_, op);
      if (looks % kLooksPerScheduled == 0) scheduled = scheduled_notices(ec2_, op);
      said.insert(scheduled.begin(), scheduled.end());
      const auto news = known.take(std::move(said), unix_now_ns(), [&](const auto& instances) {
        return find_undisturbed(ec2_, instances, op);
      });
      for (const auto& [instance, notice] : news) emit_notice(instance, notice, op);
      {  // What could not be told is told by the next watch.
        const std::lock_guard lock(mutex_);
        notices_ = known;
      }
      ++looks;
      pause = Milliseconds(config_.interruption_interval_ms);
    } catch (const Refused& refused) {
      if (looks == 0 || refused.meaning() == HOSTLER_E_AUTH)
        throw refusal_error(refused, "look for interruptions");
      pause = pause_after_failure(pause, refused.retry_after_s());
    } catch (const http::NoAnswer& problem) {
      if (op->is_cancelled(op) != 0) return;
      if (looks == 0 || !problem.is_worth_retry()) throw;
      pause = pause_after_failure(pause, 0);
    }
    try {
      driver::pause(op, pause);
    } catch (const Error&) {  // its end, by a cancel or the deadline
      return;
    }
  }
}

}  // namespace hostler::ec2
