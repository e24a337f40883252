#pragma once

#include <cstdint>
#include <memory>

#include "core/model/records.h"

namespace hostler::work {

/// One job that has not ended, in memory. A job that was never placed takes tens of bytes: its body
/// is in the store, and its record is made when it is first placed.
struct Job {
  model::WorkId id;
  std::uint64_t arrival = 0;
  std::uint64_t cls = 0;        ///< Its class in the queue.
  std::uint32_t principal = 0;  ///< Its number in dispatch::Principals.
  std::uint32_t attempts_max = 3;
  std::uint32_t start_failures_max = model::kStartFailuresMax;
  model::Micros held_per_hour;  ///< Of the part of a host that it holds; kept by dispatch::Jobs.
  bool restartable = false;
  bool queued = true;
  /// The state that the totals count it in; kept by dispatch::Jobs.
  model::WorkState counted = model::WorkState::kQueued;
  std::unique_ptr<model::WorkRecord> record;  ///< Set from the first placement on.

  /// It has an attempt on a host, as far as its record says.
  [[nodiscard]] bool is_placed() const {
    return !queued && state() != model::WorkState::kHeld && !model::is_terminal(state());
  }
  [[nodiscard]] model::WorkState state() const {
    return record ? record->state : model::WorkState::kQueued;
  }
  /// Its record, made if there is none yet.
  model::WorkRecord& made() {
    if (!record) {
      record = std::make_unique<model::WorkRecord>();
      record->id = id;
    }
    return *record;
  }
  [[nodiscard]] model::AttemptId attempt() const { return {id, record ? record->attempt : 0}; }
};

}  // namespace hostler::work
