#pragma once

#include "core/agent/host/journal/journal.h"

namespace hostler::agent {

/// The first attempt of a job, and the record of its beginning.
inline model::AttemptId id(std::uint64_t job) { return {model::WorkId{job}, 1}; }
inline Begin begin(std::uint64_t job) { return {id(job), job, "boot", 1, 0, false, 1, 2}; }

}  // namespace hostler::agent
