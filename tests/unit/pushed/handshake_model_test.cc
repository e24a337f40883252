#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/pushed/handshake.h"

namespace hostler::pushed {
namespace {

using model::InstanceId;
using Ids = std::set<InstanceId>;

/// A scheduler that keeps its promise. It places work at any time, also while a push is under way.
class Scheduler {
 public:
  struct Sent {
    std::uint64_t session, seen;
    Ids busy;
  };
  void work(Random& random, const Ids& hosts) {
    for (const auto id : hosts)
      if (can_place_ && !promised_.contains(id) && random.chance(0.4)) busy_.insert(id);
    std::erase_if(busy_, [&](InstanceId) { return random.chance(0.3); });
  }
  /// What it sends acknowledges the last answer: the promise holds from here on.
  Sent push() {
    promised_ = going_;
    return {session_, seen_, busy_};
  }
  void told(const Handshake::Answer& answer) {
    seen_ = answer.number;
    going_ = {answer.going.begin(), answer.going.end()};
    std::erase_if(promised_, [&](InstanceId id) { return !going_.contains(id); });
    if (!std::exchange(can_place_, true)) promised_ = going_;
  }
  /// Its tasks run on. It knows no more what it promised, so it places nothing before its first
  /// answer, and then nothing on whom that one names: they may be ending already.
  void restart() {
    ++session_, seen_ = 0, can_place_ = false;
    going_.clear(), promised_.clear();
  }
  [[nodiscard]] bool uses(InstanceId id) const { return busy_.contains(id); }

 private:
  std::uint64_t session_ = 1, seen_ = 0;
  Ids busy_, going_, promised_;
  bool can_place_ = false;
};

/// The daemon's side, with plans that change their mind, ends that take time, and restarts.
class Daemon {
 public:
  explicit Daemon(Ids hosts) : hosts_(std::move(hosts)) {}

  void plan(Random& random) {
    going_.clear();
    for (const auto id : hosts_)
      if (random.chance(0.6)) going_.insert(id);
    shake_.planned(going_);
  }
  Handshake::Answer take(const Scheduler::Sent& push, Random& random) {
    if (session_ != push.session) shake_.session_changed();
    session_ = push.session;
    Ids too_old;
    for (const auto id : hosts_)
      if (random.chance(0.2)) too_old.insert(id);
    shake_.pushed(push.seen, push.busy, too_old);
    shake_.ending(ending_);
    return shake_.answer();
  }
  /// Ends what may end, and tells of hosts that begin to; later they are gone.
  Ids end(Random& random) {
    Ids out;
    for (const auto id : hosts_)
      if (going_.contains(id) && !ending_.contains(id) && shake_.is_acknowledged(id) &&
          random.chance(0.5))
        out.insert(id), ending_.insert(id);
    return out;
  }
  /// Another host comes in place of each that is gone.
  void bury(Random& random) {
    for (auto id = ending_.begin(); id != ending_.end();) {
      if (!random.chance(0.3)) {
        ++id;
        continue;
      }
      hosts_.erase(*id);
      hosts_.insert(InstanceId{next_++});
      id = ending_.erase(id);
    }
  }
  void restart() { shake_ = Handshake(answers_base(++epoch_)); }
  [[nodiscard]] const Ids& hosts() const { return hosts_; }
  [[nodiscard]] const Ids& ending() const { return ending_; }

 private:
  Ids hosts_, going_, ending_;
  std::uint64_t epoch_ = 1, next_ = 100, session_ = 0;
  Handshake shake_{answers_base(1)};
};

TEST(HandshakeModelTest, NoHostEndsOnWhichAnHonestSchedulerRunsSomething) {  // 5.3.2
  std::size_t ended = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    Scheduler scheduler;
    Daemon daemon({InstanceId{1}, InstanceId{2}, InstanceId{3}});
    for (int step = 0; step < 100; ++step) {
      const auto sent = scheduler.push();
      scheduler.work(random, daemon.hosts());  // While the push is under way.
      if (random.chance(0.5)) daemon.plan(random);
      std::optional<Handshake::Answer> answer;
      if (random.chance(0.8)) answer = daemon.take(sent, random);
      if (random.chance(0.5)) daemon.plan(random);
      ended += daemon.end(random).size();
      for (const auto id : daemon.ending())
        ASSERT_FALSE(scheduler.uses(id)) << "seed " << seed << ", step " << step;
      if (random.chance(0.05)) daemon.restart();
      daemon.bury(random);
      if (answer && random.chance(0.8)) scheduler.told(*answer);
      if (random.chance(0.05)) scheduler.restart();
      scheduler.work(random, daemon.hosts());
    }
  }
  EXPECT_GT(ended, 10'000U);
}

}  // namespace
}  // namespace hostler::pushed
