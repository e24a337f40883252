#pragma once

#include <string>

#include "core/planning/question.h"

namespace hostler::planning {

/// The snapshot as JSON that read_question() reads: each host, offering and class of work on a line
/// of its own. The plan of what was read is the plan of `question`. Its times are ages, of which
/// those above 100 days are cut to seconds, and money above a billion is cut to that.
std::string write_question(const Question& question);

}  // namespace hostler::planning
