#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/planning/question.h"

namespace hostler::planning {

/// The longest text of a snapshot. One of 10,000 hosts and 10,000 classes of work has a tenth.
inline constexpr std::size_t kSnapshotBytesMax = std::size_t{64} << 20;

struct Reading {
  Question question;  ///< Valid only if there are no problems.
  /// Each with path, position, the value found and the values allowed. At most 100.
  std::vector<Error> problems;
};

/// Reads a snapshot of version 1 as config/plan.schema.json says, and checks what a schema cannot:
/// that names and ids are known and different, and that numbers agree.
Reading read_question(std::string_view text);

}  // namespace hostler::planning
