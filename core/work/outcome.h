#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/model/event.h"

namespace hostler::work {

enum class Next : std::uint8_t {
  kNothing,
  kSend,        ///< Journal the attempt, then send its start.
  kKill,        ///< Tell the host to end it.
  kQueueAgain,  ///< Put it back into the queue, at its old place.
  kCollect,     ///< The attempt ended; wait for its output.
  kEnd,         ///< The job ended: journal it, acknowledge the attempt, forget the job.
};

struct Outcome {
  Next next = Next::kNothing;
  bool changed = false;
  std::optional<model::Event> event;  ///< For the ledger, if `changed`; unset: none.
  std::string reason_code;            ///< As LedgerRecord::reason_code.
  std::string reason;
};

}  // namespace hostler::work
