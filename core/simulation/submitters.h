#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/dispatch/events.h"
#include "core/simulation/hosts.h"
#include "core/simulation/load.h"
#include "core/simulation/observer.h"
#include "core/simulation/timeline.h"

namespace hostler::simulation {

/// Those who submit the jobs of the load, each at its time, and who know how long they run.
class Submitters {
 public:
  using Post = std::function<void(dispatch::Event)>;

  /// All but the post outlive it.
  Submitters(Timeline& time, Load load, const Limits& limits, Observer& observer, Post post)
      : time_(time),
        start_(time.now()),
        load_(std::move(load)),
        limits_(limits),
        observer_(observer),
        post_(std::move(post)) {}

  /// Waits for the first job. Later problems end the load: see problem().
  void begin();
  /// The dispatcher has answered a submit.
  void hear(const dispatch::Reply& answer);
  /// The jobs were removed from the store.
  void forget(const std::vector<model::WorkId>& jobs);
  [[nodiscard]] Hosts::Fate fate_of(model::WorkId id) const;
  /// Why no more jobs are submitted: a trace that cannot be read, or a limit.
  [[nodiscard]] const std::optional<Error>& problem() const { return problem_; }
  /// Jobs of traces that ran nowhere.
  [[nodiscard]] std::uint64_t skipped() const { return load_.skipped(); }

 private:
  Result<void> await_job();
  Result<void> submit_due();
  Result<void> check_limits();
  void submit(std::vector<Job> jobs);

  Timeline& time_;
  const Mono start_;
  Load load_;
  const Limits& limits_;
  Observer& observer_;
  const Post post_;
  std::optional<Job> next_;
  std::map<dispatch::Ticket, std::vector<Job>> submitted_;  ///< Not answered yet.
  std::unordered_map<model::WorkId, Hosts::Fate> fates_;
  std::int64_t unanswered_ = 0;  ///< Jobs.
  std::uint64_t tickets_ = 0, jobs_read_ = 0;
  std::optional<Error> problem_;
};

}  // namespace hostler::simulation
