#pragma once

#include <optional>
#include <string>

#include "core/model/host.h"
#include "core/work/job.h"

/// The life of a job and its attempts: an attempt starts at most once, and the next begins only
/// when this one is known never to have started or its instance is gone. Pure, as core/fleet is.
namespace hostler::work {

enum class Next : std::uint8_t {
  kNothing,
  kSend,        ///< The attempt's intent is to be journalled, then sent.
  kKill,        ///< Tell the host to end it.
  kQueueAgain,  ///< Back into the queue at its old place.
  kCollect,     ///< Ended; output is still to come.
  kEnd,         ///< Terminal: journal, acknowledge, forget.
};

struct Outcome {
  Next next = Next::kNothing;
  bool changed = false;
  std::optional<model::Event> event;  ///< For the ledger, if `changed`; unset: none.
  std::string reason_code;            ///< As LedgerRecord::reason_code.
  std::string reason;
};

[[nodiscard]] Outcome placed(Job& job, model::InstanceId instance, Now now);
[[nodiscard]] Outcome started(Job& job, Wall at);
/// Its host does not have the attempt: it never started and is queued again at no cost, or, where
/// it was known to run, it is lost.
[[nodiscard]] Outcome never_started(Job& job, const std::string& why, Now now);
[[nodiscard]] Outcome exited(Job& job, const model::AttemptEnd& end, Now now);
[[nodiscard]] Outcome collected(Job& job, const std::string& lost, Now now);
/// Its instance is confirmed gone, or came back with another boot and no record of its end.
[[nodiscard]] Outcome host_gone(Job& job, const std::string& why, Now now);
[[nodiscard]] Outcome cancel(Job& job, const std::string& actor, Now now);

}  // namespace hostler::work
