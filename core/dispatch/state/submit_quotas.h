#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "core/dispatch/events.h"
#include "core/dispatch/state/principals.h"
#include "core/model/policy.h"
#include "core/model/views.h"

namespace hostler::dispatch {

/// The quotas that a submit must keep. Owns the times of the last minute's submits; what waits is
/// counted by WaitingWork, and the bytes of outputs come with the submit.
class SubmitQuotas {
 public:
  SubmitQuotas(const model::SitePolicy& policy, const Principals& principals,
               const WaitingWork& waiting)
      : policy_(policy), principals_(principals), waiting_(waiting) {}

  /// How many of the jobs are new: the others have client keys that name jobs already, and a submit
  /// of only those keeps every quota. kForbidden for a priority, kOverQuota for the other limits;
  /// the message names the limit, its value and what there is. kUnavailable: it is not known what
  /// there is.
  Result<std::size_t> check(const Submit& event, Mono now);
  /// A submit with new jobs was accepted.
  void count_submit(const std::string& principal, Mono now);

  /// The limits of a principal and what it has, without bytes.
  [[nodiscard]] model::QuotaView view(const std::string& principal, Mono now) const;

 private:
  struct Wanted;
  /// How many jobs of a principal wait, and of how many different shapes.
  struct Waiting {
    std::size_t jobs = 0, shapes = 0;
  };
  [[nodiscard]] Waiting waiting_of(const std::string& principal) const;
  [[nodiscard]] Wanted wanted_of(const Submit& event) const;
  Result<void> check_rate(const std::string& principal, const model::Quota& quota, Mono now);
  [[nodiscard]] static Result<void> check_outputs(const Submit& event, const model::Quota& quota);
  [[nodiscard]] std::uint64_t submits_since(const std::string& principal, Mono time) const;

  const model::SitePolicy& policy_;
  const Principals& principals_;
  const WaitingWork& waiting_;
  /// Of principals with a limit, oldest first; at most as many as the limit.
  std::map<std::string, std::deque<Mono>> submits_;
};

}  // namespace hostler::dispatch
