#pragma once

#include "core/gates/gates.h"
#include "core/model/cloud.h"
#include "core/model/records.h"

/// Private to this folder: which calls a gate is for, and how often they failed.
namespace hostler::gates {

/// The create itself is wrong: all such creates are refused until the settings are corrected.
[[nodiscard]] bool is_for_good(model::CloudErrorClass cls, model::CloudOp op);
[[nodiscard]] bool is_of_boots(const model::GateRecord& r);
/// Shut by an error that was told later.
[[nodiscard]] bool was_told_later(const model::GateRecord& r);
/// Gates whose probe ends when its host comes up or fails, and not with the answer to its create.
[[nodiscard]] inline bool is_probed_by_boots(const model::GateRecord& r) {
  return is_of_boots(r) || was_told_later(r);
}
/// Answers of the cloud shut and open these, and no others.
[[nodiscard]] bool is_of_answers(const model::GateRecord& r);
/// Nobody knows of which quota group the refused call was.
[[nodiscard]] bool leaves_group_to_driver(const model::GateRecord& r);
/// The gate that the error shuts, with its key and scope.
[[nodiscard]] model::GateRecord record_of(const GateQuery& call, const model::CloudError& error,
                                          Told told);
/// One more failure than `before`, the gate's record so far; null: it is the first in a row.
void count_failure(model::GateRecord& record, const model::GateRecord* before, Wall now);

}  // namespace hostler::gates
