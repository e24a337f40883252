#include <utility>

#include "tests/sim/world.h"

/// A user who submits as much as the site takes, and more: beyond each quota, in many shapes, with
/// high priority. Decisions checks what becomes of it.
namespace hostler::sim {
namespace {

constexpr const char* kGreedyUser = "eve";
constexpr dispatch::Ticket kFirstTicket = 1'000'000;  ///< Above those of all wishes.

}  // namespace

void World::make_greedy_user() {
  if (!greed_.chance(day_.greedy)) return;
  auto& quota = policy_.quotas.principals[kGreedyUser];
  const auto limit = [&](std::int64_t least, std::uint64_t more) {
    return least + static_cast<std::int64_t>(greed_.below(more));
  };
  quota.jobs_waiting_max = limit(3, 15);
  quota.shapes_waiting_max = limit(2, 6);
  quota.submits_per_minute_max = limit(2, 12);
  quota.priority_max = limit(0, 2);
  time_.after(Duration(1s), [this] { submit_greedily(); });
}

void World::submit_greedily() {
  if (calm_) return;
  dispatch::Submit submit;
  submit.ticket = kFirstTicket;
  submit.principal = kGreedyUser;
  for (std::uint64_t n = 1 + greed_.below(6); n > 0; --n) {
    model::WorkItem& item = submit.work.emplace_back();
    item.shape.needs = {.vcpus = 1 + static_cast<std::int32_t>(greed_.below(8)),
                        .gpus = 0,
                        .ram = kGiB,
                        .scratch = 0};
    item.shape.restartable = greed_.chance(0.5);
    item.shape.priority = static_cast<std::int32_t>(greed_.below(2));
    if (greed_.chance(0.1)) item.shape.priority = 1000;
  }
  post(std::move(submit));
  time_.after(Duration(100ms) + Duration(5s) * greed_.below(100) / 100,
              [this] { submit_greedily(); });
}

/// The rest goes to those who asked for one job each.
bool World::is_greedy(const dispatch::Reply& answer) {
  if (answer.ticket != kFirstTicket) return false;
  if (!answer.result && !offerings_ && answer.result.error().code != Errc::kOverQuota &&
      answer.result.error().code != Errc::kForbidden)
    complain("a submit was refused: " + answer.result.error().message);
  return true;
}

}  // namespace hostler::sim
