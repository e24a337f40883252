#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/dispatch/story.h"

namespace hostler::dispatch {

/// Pool "default" of hosts with 8 slots, which an outside scheduler sizes.
inline model::SitePolicy pushed_site() {
  auto out = small_site();
  for (auto& type : out.types) type.resources.slots = 8;
  auto& pool = out.pools[0];
  pool.types = {"small"};
  pool.readiness = model::Readiness::kReported;
  pool.pushed.emplace();
  pool.idle_timeout = 5min;
  pool.boot_timeout = 30min;
  return out;
}

/// A story with a pusher that keeps its promise: it acts on each answer at once.
class PushedStory : public Story {
 public:
  explicit PushedStory(model::SitePolicy policy = pushed_site()) : Story(std::move(policy)) {}

  Result<model::PushAnswer> say_push(model::Push push, const std::string& who = "token scaler") {
    const Ticket ticket = 1'000'000 + ++pushes_;
    say(PushReceived{ticket, who, "default", std::move(push)});
    for (const auto& reply : all<PushReply>())
      if (reply.ticket == ticket) return reply.result;
    return fail(Errc::kInternal, "no answer");
  }
  /// So many tasks of 8 slots wait, and these hosts are idle or busy.
  model::PushAnswer push(std::size_t tasks, const std::vector<InstanceId>& idle,
                         const std::vector<InstanceId>& busy = {}) {
    auto answer = say_push(next(tasks, idle, busy));
    EXPECT_TRUE(answer) << answer.error().message;
    if (!answer) return {};
    seen_ = answer->answer;
    return *std::move(answer);
  }
  model::Push next(std::size_t tasks, const std::vector<InstanceId>& idle,
                   const std::vector<InstanceId>& busy = {}) {
    model::Push out;
    out.session = session;
    out.sequence = ++sequence_;
    out.seen = seen_;
    for (const auto id : idle) out.agents.push_back({id.text(), true});
    for (const auto id : busy) out.agents.push_back({id.text(), false});
    for (std::size_t i = 0; i < tasks; ++i)
      out.tasks.push_back({.id = "t" + std::to_string(i), .slots = 8, .group = {}});
    return out;
  }
  /// The hosts of so many tasks and those of the minimum, which the cloud shows running.
  std::vector<InstanceId> made(std::size_t tasks) {
    push(tasks, {});
    std::vector<InstanceId> out;
    for (const auto& call : all<CreateCall>()) out.push_back(call.instance);
    for (const auto id : out) {
      say(CreateSeen{id, seen(id)});
      create_ended(id);
    }
    return out;
  }
  /// The same push again and again.
  void keep(Duration time, std::size_t tasks, const std::vector<InstanceId>& idle,
            const std::vector<InstanceId>& busy = {}) {
    for (Duration passed{}; passed < time; passed += 30s) {
      pass(30s);
      push(tasks, idle, busy);
    }
  }
  bool ends(InstanceId id) const { return state(id) == InstanceState::kTerminating; }
  std::vector<std::string> conditions() const {
    return dispatcher.queries().pools().at(0).conditions;
  }

  std::string session = "s-1";
  std::uint64_t seen_ = 0;

 private:
  std::uint64_t sequence_ = 0;
  Ticket pushes_ = 0;
};

/// Pool "default", which an outside scheduler sizes, through the dispatcher.
class PushesTest : public testing::Test {
 protected:
  void begin(model::SitePolicy site = pushed_site()) {
    story = PushedStory(std::move(site));
    story.begin();
  }
  /// The rows as a restart finds them.
  model::Restored rows(const std::vector<InstanceId>& ids) {
    model::Restored out;
    for (const auto id : ids) {
      out.instances.push_back({story.record(id), nullptr, false});
      out.last_instance = std::max(out.last_instance, id.value);
    }
    return out;
  }
  void restart(model::Restored restored, model::SitePolicy site = pushed_site()) {
    PushedStory next(std::move(site));
    next.now = story.now;
    restored.epoch = 4;
    story = std::move(next);
    story.begin(std::move(restored));
  }

  PushedStory story;
};

}  // namespace hostler::dispatch
