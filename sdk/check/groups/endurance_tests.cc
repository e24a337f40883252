// Groups D and F: many sets, many calls, many at once.
#include <algorithm>
#include <atomic>
#include <set>

#include "core/base/mutex.h"
#include "core/base/units.h"
#include "sdk/check/groups/begin.h"
#include "sdk/check/host/harmless_calls.h"

namespace hostler::check {
namespace {

constexpr int kSets = 60, kLists = 400, kCreates = 24, kAtOnce = 400, kWarmUp = 10;
constexpr std::size_t kGrowthMax = std::size_t{48} << 20U;

/// Fails if the process has grown since the object was made.
class Growth {
 public:
  explicit Growth(Context& c, const char* call) : c_(c), call_(call), begin_(resident_bytes()) {}
  bool is_too_much(int times) {
    const std::size_t now = resident_bytes();
    if (now < begin_ + kGrowthMax) return false;
    c_.findings.fail("limit", call_,
                     "the process has grown by " +
                         format_size(static_cast<std::int64_t>(now - begin_)) + " in " +
                         std::to_string(times) + " times");
    return true;
  }

 private:
  Context& c_;
  const char* call_;
  std::size_t begin_;
};

void open_many(Context& c, const Library& library) {
  std::optional<Growth> growth;
  for (int i = 0; i < kSets && !c.stops && !c.findings.has_failed(); ++i) {
    Session session(c, library);
    if (!session.open_or_skip()) return;
    if (i == kWarmUp) growth.emplace(c, "set_open");
    if (growth && growth->is_too_much(i - kWarmUp)) return;
  }
}

void list_many(Context& c, Session& session) {
  std::optional<Growth> growth;
  const std::size_t descriptors = open_descriptors().size();
  for (int i = 0; i < kLists && !c.stops && !c.findings.has_failed(); ++i) {
    (void)session.list();
    if (i == kWarmUp) growth.emplace(c, "list");
    if (growth && growth->is_too_much(i - kWarmUp)) return;
  }
  if (const auto now = open_descriptors().size(); now > descriptors + kWarmUp)
    c.findings.fail("limit", "list",
                    std::to_string(now - descriptors) + " more descriptors are open than before");
}

void create_many(Context& c, Session& session) {
  Growth growth(c, "create");
  for (int i = 0; i < kCreates && !c.stops && !c.findings.has_failed(); ++i) {
    const auto made = make_machine(c, session);
    if (!made) return;
    (void)session.destroy(made->id);
    if (growth.is_too_much(i + 1)) return;
  }
}

/// Counts calls that have not ended.
class Pending {
 public:
  void add() {
    const MutexLock lock(mutex_);
    ++count_;
  }
  void remove() {
    const MutexLock lock(mutex_);
    --count_;
    none_.notify_all();
  }
  void wait() {
    MutexLock lock(mutex_);
    none_.wait(mutex_, [this]() HOSTLER_REQUIRES(mutex_) { return count_ == 0; });
  }

 private:
  Mutex mutex_;
  Condition none_;
  int count_ HOSTLER_GUARDED_BY(mutex_) = 0;
};

/// Lists and questions, as many at once as the driver allows: the host has one thread for each.
void call_at_once(Context& c, Session& session) {
  Pending pending;
  std::atomic<int> failed{0};
  const auto ended = [&](const auto& result) {
    if (!result) ++failed;
    pending.remove();
  };
  for (int i = 0; i < kAtOnce; ++i) {
    pending.add();
    if (i % 3 == 0)
      session.set().info(c.options.timeout,
                         [&](const model::CloudResult<model::SetInfo>& got) { ended(got); });
    else
      session.set().list(
          {}, c.options.timeout,
          [&](const model::CloudResult<std::vector<model::ListedInstance>>& got) { ended(got); });
  }
  pending.wait();
  (void)session.list();  // takes note of rules that were broken meanwhile
  if (failed == kAtOnce)
    c.findings.fail("R35", "list", "no call succeeds when many are made at once");
  else if (failed > 0)
    c.findings.warn("R35", "list",
                    std::to_string(failed) + " of " + std::to_string(kAtOnce) +
                        " calls that were made at once fail");
}

/// Creates with different keys at once make different machines.
void create_at_once(Context& c, Session& session) {
  constexpr int kCalls = 16;
  const int machines = std::min(session.machines_max(), kCalls / 2);
  const std::string prefix = session.new_key() + "-";
  Pending pending;
  for (int i = 0; i < kCalls; ++i) {  // each key twice or more
    pending.add();
    session.set().create(
        session.request(prefix + std::to_string(i / 2 % machines)), c.options.timeout, {},
        [&](const model::CloudResult<model::ListedInstance>&) { pending.remove(); });
  }
  pending.wait();
  std::set<std::string> ids;
  for (int i = 0; i < machines; ++i) {
    const auto made = session.create(session.request(prefix + std::to_string(i)));
    if (!made) return report_no_machine(c, made.error());
    if (!ids.insert(made->id).second)
      c.findings.fail("R32", "create", "two keys have one machine, " + made->id);
  }
  const auto listed = session.list();
  std::set<std::string> seen;
  for (const auto& one : listed.value_or(std::vector<model::ListedInstance>()))
    if (one.idempotency_key.compare(0, prefix.size(), prefix) == 0 &&
        one.state != model::CloudState::kGone && one.state != model::CloudState::kTerminating &&
        !seen.insert(one.idempotency_key).second)
      c.findings.fail("R32", "create", "the key " + one.idempotency_key + " has two machines");
}

}  // namespace

void add_endurance_tests(std::vector<Test>& to) {
  using enum Needs;
  to.push_back({"endurance.sets", 'D', 1, kNothing, "nothing is left of a set that was closed",
                &on_library<open_many>});
  to.push_back({"endurance.lists", 'D', 1, kNothing, "nothing is left of a call that has ended",
                &on_open_set<list_many>});
  to.push_back({"endurance.creates", 'D', 1, kMachines, "nothing is left of a machine that is gone",
                &on_open_set<create_many>});
  to.push_back({"threads.calls", 'F', 1, kNothing, "calls at once do not disturb one another",
                &on_open_set<call_at_once>});
  to.push_back({"threads.creates", 'F', 1, kMachines,
                "creates at once make one machine for each key", &on_open_set<create_at_once>});
}

}  // namespace hostler::check
