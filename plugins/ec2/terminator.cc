#include "terminator.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <thread>

#include "find_instances.h"

namespace hostler::ec2 {

using driver::Error;

namespace {

/// How long the first of several waits for others.
constexpr auto kGather = std::chrono::milliseconds(25);
constexpr std::size_t kAtOnceMax = 200;

using Clock = std::chrono::steady_clock;

Clock::time_point deadline_of(const hostler_op* op) {
  constexpr auto kLongest = std::chrono::minutes(10);
  if (op->deadline_mono_ns == 0) return Clock::now() + kLongest;
  return Clock::time_point(
      std::chrono::duration_cast<Clock::duration>(std::chrono::nanoseconds(op->deadline_mono_ns)));
}

}  // namespace

struct Terminator::Wish {
  Wish(std::string of, std::string set, bool known)
      : id(std::move(of)), expected_set(std::move(set)), is_known(known) {}

  const std::string id, expected_set;
  const bool is_known;
  std::mutex mutex;
  std::condition_variable wake;
  bool is_done = false, is_cancelled = false;  // under mutex
  std::optional<Error> error;                  // under mutex

  void done(std::optional<Error> with = std::nullopt) {
    const std::lock_guard lock(mutex);
    if (is_done) return;
    is_done = true;
    error = std::move(with);
    wake.notify_all();
  }
  bool is_open() {
    const std::lock_guard lock(mutex);
    return !is_done;
  }
};

void Terminator::end(const std::string& id, const std::string& expected_set, bool is_known,
                     hostler_op* op) {
  const auto wish = std::make_shared<Wish>(id, expected_set, is_known);
  bool starts = false;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(wish);
    starts = !std::exchange(is_working_, true);
  }
  if (starts && !workers_.run([this] { work(); })) work();
  const driver::OnCancel on_cancel(op, [&] {
    const std::lock_guard lock(wish->mutex);
    wish->is_cancelled = true;
    wish->wake.notify_all();
  });
  std::unique_lock lock(wish->mutex);
  wish->wake.wait_until(lock, deadline_of(op), [&] { return wish->is_done || wish->is_cancelled; });
  if (!wish->is_done)
    throw Error(wish->is_cancelled ? HOSTLER_E_CANCELLED : HOSTLER_E_TIMEOUT,
                "EC2 has not answered yet whether it terminates " + id)
        .outcome_unknown();
  if (wish->error) throw Error(*wish->error);
}

void Terminator::work() {
  for (;;) {
    std::this_thread::sleep_for(kGather);
    Wishes wishes;
    {
      const std::lock_guard lock(mutex_);
      const auto n = std::min(waiting_.size(), kAtOnceMax);
      const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(n);
      wishes.assign(waiting_.begin(), end);
      waiting_.erase(waiting_.begin(), end);
      is_working_ = !wishes.empty();
    }
    if (wishes.empty()) return;
    fulfil(wishes);
  }
}

/// Each gets an answer, whatever happens.
void Terminator::fulfil(const Wishes& wishes) {
  Error why(HOSTLER_E_INTERNAL, "nobody has ended the instance");
  try {
    check(wishes);
    send(wishes);
  } catch (const Refused& refused) {
    why = refusal_error(refused, "terminate " + wishes.front()->id);
  } catch (const Error& error) {
    why = error;
  } catch (const std::exception& error) {
    why = Error(HOSTLER_E_INTERNAL, error.what()).outcome_unknown();
  }
  for (const auto& one : wishes) one->done(why);
}

/// Answers to those that EC2 need not be asked to end.
void Terminator::check(const Wishes& wishes) {
  std::vector<std::string> ids;
  for (const auto& one : wishes) ids.push_back(one->id);
  Query query("DescribeInstances");
  const auto found = find_instances(api_, query.add_filter("instance-id", ids), own_.op());
  for (const auto& one : wishes) {
    const auto there = found.find(one->id);
    if (there == found.end()) {
      // What was made a moment ago may not be shown yet.
      if (!one->is_known) one->done();
    } else if (!one->expected_set.empty() && there->second.set_id != one->expected_set) {
      const std::string& owner = there->second.set_id;
      one->done(Error(
          HOSTLER_E_CONFLICT,
          one->id + " belongs to " + (owner.empty() ? "no set of hostler" : "the set " + owner)));
    } else if (there->second.state == HOSTLER_STATE_GONE) {
      one->done();
    }
  }
}

/// EC2 ends all of them or none: one that is not there is sorted out by asking for each alone.
void Terminator::send(const Wishes& wishes) {
  Wishes open;
  std::vector<std::string> ids;
  for (const auto& one : wishes)
    if (one->is_open()) open.push_back(one), ids.push_back(one->id);
  if (open.empty()) return;
  try {
    api_.change(Query("TerminateInstances").add_list("InstanceId", ids), own_.op());
    for (const auto& one : open) one->done();
  } catch (const Refused& refused) {
    const bool is_about_one = refused.meaning() != HOSTLER_E_RATE_LIMIT &&
                              refused.meaning() != HOSTLER_E_AUTH &&
                              refused.meaning() != HOSTLER_E_TRANSIENT;
    if (open.size() == 1 && refused.says_missing()) return open[0]->done();
    if (open.size() == 1) return open[0]->done(refusal_error(refused, "terminate " + open[0]->id));
    if (!is_about_one) throw;
    for (const auto& one : open) send({one});
  }
}

}  // namespace hostler::ec2
