#pragma once

#include <string>
#include <vector>

#include "core/tap/recording.h"
#include "core/tap/records.h"

namespace hostler::tap {

/// How a call has ended.
struct Outcome {
  std::string status = "ok";
  std::string error;  ///< As error_to_json() writes it; empty: none.
  Records records;
};

/// What is different now from what was recorded, a sentence each: the status, what kind of error it
/// is, and which members records have. Values are not compared, nor members that depend on the
/// moment, such as an address. Pure.
std::vector<std::string> compare(const Call& recorded, const Outcome& now);

}  // namespace hostler::tap
