#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/planning/fate.h"
#include "core/planning/question.h"

namespace hostler::planning {

/// A plan as JSON, see config/plan-answer.schema.json: its actions in the order in which the daemon
/// applies them, each with its reason, and the status of each class of work.
std::string write_answer(const Question& question, const scheduler::Plan& plan);

/// Reads a snapshot, makes the plan and writes the answer; all problems of the snapshot instead.
tl::expected<std::string, std::vector<Error>> answer(std::string_view snapshot);

/// Work that somebody may submit, in a question.
struct Trial {
  Question question;
  const char* kind = "jobs";          ///< Or "leases": the member of the answer that has them.
  std::vector<demand::ClassId> jobs;  ///< The class of each, in their order.
  std::string beyond;  ///< Why some of a class wait although the snapshot does not count them.
  /// How long hosts of each offering took to boot lately; unset: not known.
  std::vector<std::optional<Duration>> boots;
};
/// Writes what would become of each job or lease: the answer of `POST /v1/dry-run`.
std::string write_trial(const Trial& trial, const scheduler::Plan& plan);

}  // namespace hostler::planning
