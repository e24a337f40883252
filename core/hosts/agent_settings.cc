#include "core/hosts/agent_settings.h"

#include <chrono>
#include <utility>

namespace hostler::hosts {
namespace {

std::uint64_t interval_us(Duration time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

}  // namespace

agent::Configure to_configure(const HostSettings& settings, const model::PoolPolicy& pool) {
  agent::Configure out;
  out.uid_first = settings.uid_first;
  out.uid_count = settings.uid_count;
  out.blobs_max = settings.blobs_max;
  for (const auto& check : pool.broken_checks) {
    agent::Check one;
    one.name = check.name;
    one.command = check.command;
    one.interval_us = interval_us(check.interval);
    out.checks.push_back(std::move(one));
  }
  if (const auto& check = pool.interruption_check; !check.command.empty()) {
    agent::Check one;
    one.name = "interruption";
    one.command = check.command;
    one.interval_us = interval_us(check.interval);
    one.kind = agent::Check::Kind::kInterrupted;
    out.checks.push_back(std::move(one));
  }
  out.cards_command = pool.gpu_command;
  return out;
}

}  // namespace hostler::hosts
