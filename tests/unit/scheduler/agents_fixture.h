#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "core/scheduler/agents.h"
#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {

/// A pool that an outside scheduler sizes, with hosts of 8 slots.
class AgentsTest : public testing::Test {
 protected:
  AgentsTest() : gpu(site.type("gpu", 8, 32, 1000)) {
    site.snapshot.now = Mono(100h);
    site.pool().pushed.emplace();
    site.pool().readiness = model::Readiness::kCloud;
    site.pool().idle_timeout = 20min;
    site.policy.types[0].resources.slots = site.snapshot.offerings[gpu].resources.slots = 8;
    bounds(0, kBoundMax);
  }
  void bounds(std::optional<std::int64_t> min, std::optional<std::int64_t> max) {
    site.snapshot.bounds = {{{BoundOf::kStartedMin, kPushedSource, min, "", {}},
                             {BoundOf::kStartedMax, kPushedSource, max, "", {}}}};
  }
  HostView& host(std::uint64_t id, AgentState agent, Duration for_ = 1min, Duration age = 1h) {
    const auto phase = agent == AgentState::kComing ? HostPhase::kComing : HostPhase::kReady;
    HostView& out = site.host(id, gpu, phase);
    out.agent = agent;
    out.agent_since = out.since = site.snapshot.now - for_;
    out.created = site.snapshot.now - age;
    out.takes_work = false;
    out.busy = agent == AgentState::kBusy;
    out.was_listed = agent != AgentState::kComing;
    return out;
  }
  demand::ClassId tasks(std::uint64_t count, std::int32_t slots, bool whole = false) {
    const demand::ClassId cls = site.jobs(count, 0, 0);
    demand::ClassView& view = site.snapshot.classes.back();
    view.kind = model::WorkKind::kTask;
    view.shape.needs = {.vcpus = {}, .gpus = 0, .ram = 0, .scratch = 0, .slots = slots};
    view.shape.constraints.pools = {"default"};
    view.shape.exclusive = whole;
    view.displaced = true;
    view.heads.clear();
    view.oldest = {};
    return cls;
  }
  static std::vector<std::uint64_t> ids(const auto& actions) {
    std::vector<std::uint64_t> out;
    for (const auto& one : actions) out.push_back(one.host.value);
    return out;
  }
  Plan plan() const { return site.plan(); }

  Site site;
  std::uint32_t gpu;
};

}  // namespace hostler::scheduler
