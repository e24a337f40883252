#pragma once

#include <gmock/gmock.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/dispatch/dispatcher.h"

namespace hostler::dispatch {

using namespace std::chrono_literals;
using model::CloudErrorClass;
using model::CloudOp;
using model::EndReason;
using model::InstanceId;
using model::InstanceState;
using model::WorkId;
using model::WorkState;

inline constexpr std::int64_t kGiB = std::int64_t{1} << 30;

/// One set "west", one pool "default", types "small" (2 vcpus, price 60) and "large" (8, 200).
model::SitePolicy small_site();

/// A dispatcher and what it said: each step adds to `changes` and `effects`, clear() forgets them.
/// Plans are made at once unless `plans_wait`.
class Story {
 public:
  explicit Story(model::SitePolicy policy = small_site(), Options options = {});

  /// Starts with what the journal knew, and opens the set.
  void begin(model::Restored restored = {});
  void restore(model::Restored restored = {});
  /// One event, and the plans that follow.
  void say(Event event);
  void pass(Duration time);
  void clear();

  // People.
  model::WorkItem job(std::int32_t vcpus = 1, bool restartable = false) const;
  /// The ids, or none where it was refused; see `refusal`.
  std::vector<WorkId> submit(std::vector<model::WorkItem> jobs,
                             const std::string& who = "user ann");
  Result<std::vector<WorkId>> ask(Event event);
  /// Asks for a host with at least this number of vcpus.
  SubmitLease lease(Duration term = 1h, std::int32_t vcpus = 1) const;
  /// The id; expects that it is accepted.
  WorkId borrow(SubmitLease lease, const std::string& who = "user ann");

  // The cloud. A list is sent now and answered in a second.
  void list(std::vector<model::ListedInstance> instances);
  void create_ended(InstanceId id, std::optional<model::CloudError> error = {});
  /// The answer to the last call for the prices of the type.
  void say_prices(const std::string& type,
                  model::CloudResult<std::vector<model::ZonePrice>> result);
  model::ListedInstance seen(InstanceId id, model::CloudState state = model::CloudState::kRunning);

  // Hosts.
  /// Created, listed, proved and ready; takes work at once.
  void boot(InstanceId id);
  void host(InstanceId id, model::HostEventBody body);
  void ready(InstanceId id, std::vector<model::AttemptReport> attempts = {},
             const std::string& boot_id = "boot-1");
  void exited(InstanceId id, WorkId job, std::uint32_t attempt = 1, int code = 0);

  /// A job that runs on a host of its own.
  std::pair<WorkId, InstanceId> running(bool restartable = false);

  template <class T>
  std::vector<T> all() const {
    std::vector<T> out;
    for (const auto& effect : effects) {
      if (const auto* one = std::get_if<T>(&effect)) out.push_back(*one);
    }
    return out;
  }
  template <class T>
  std::vector<T> commands() const {
    std::vector<T> out;
    for (const auto& command : all<model::HostCommand>())
      if (const auto* one = std::get_if<T>(&command)) out.push_back(*one);
    return out;
  }
  template <class T>
  std::vector<T> journalled() const {
    std::vector<T> out;
    for (const auto& change : changes)
      if (const auto* one = model::get_change<T>(change)) out.push_back(*one);
    return out;
  }
  /// The newest record of a job or instance; the state it was in when it was journalled last.
  model::WorkRecord record(WorkId id) const;
  model::InstanceRecord record(InstanceId id) const;
  /// "waiting", "granted", ...
  std::string lease_state(WorkId id) const { return model::lease_state(record(id).state); }
  InstanceState state(InstanceId id) const { return record(id).state; }
  /// "subject event code", in order.
  std::vector<std::string> ledger() const;

  Dispatcher dispatcher;
  Now now{Mono(100h), Wall{1'700'000'000'000'000}};
  std::vector<model::Change> changes;
  std::vector<Effect> effects;
  std::vector<WorkId> bodies_wanted;
  bool plans_wait = false;
  /// The answer to look-ups by id, given at once.
  model::CloudResult<std::vector<model::ListedInstance>> look_up =
      std::vector<model::ListedInstance>{};
  std::optional<PlanMade> plan;  ///< The one that waits.

 private:
  void take(Outbox out);
  void pump();

  std::vector<model::Change> history_;
  std::map<std::string, std::uint64_t> price_calls_;  ///< By type: the number of the last one.
  Ticket tickets_ = 0;
  std::uint64_t connections_ = 0;
};

model::CloudError error(CloudErrorClass cls, bool outcome_unknown = false);

}  // namespace hostler::dispatch
