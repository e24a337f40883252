#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/work_codec.h"
#include "core/base/error.h"
#include "core/json/reader.h"
#include "core/json/writer.h"
#include "core/model/job.h"
#include "core/model/job_limits.h"
#include "core/model/records.h"
#include "core/model/views.h"

/// A job as JSON, the same in files, the API, the store and `hostler job --json`. No I/O, any
/// thread.
namespace hostler::api {

/// A longer text is refused before it is parsed. A job within its limits is shorter, even if each
/// byte of its texts is written as an escape of six bytes.
inline constexpr std::size_t kJobJsonBytesMax = std::size_t{24} << 20U;

/// An input that names a local file ("from") in place of the sha256 of a blob. The caller of
/// read_job() has to upload it.
struct LocalInput {
  std::size_t index = 0;  ///< In JobSpec::inputs; its sha256 is empty.
  std::string from;
};

/// Reads one job as a client submits it. Absent members leave the defaults of JobSpec; env is
/// sorted. Errors name the path of the member. If `local` is set, "from" is allowed in inputs.
Result<model::JobSpec> read_job(std::string_view json, const model::JobLimits& limits = {},
                                std::vector<LocalInput>* local = nullptr);
/// The same for a value inside a larger document. False, and the field has problems, if it is no
/// valid job.
bool read_job(const json::Field& field, const model::JobLimits& limits, model::JobSpec& out,
              std::vector<LocalInput>* local = nullptr);

/// The whole job as compact JSON. Equal specs give equal text, and read_job() gives the spec back.
/// The store keeps this text, and submits with the same client_key are compared by it.
std::string canonical_body(const model::JobSpec& spec);

/// The row of a new job: its shape, name, client key and body.
model::WorkItem submitted_job(const model::JobSpec& spec);

/// Writes a job as one object: its present state, then, if `job.body` is set, the submitted
/// members. `waiting` may be null. `cards`: UUIDs of those that its attempt has now.
void write_job(json::Writer& out, const model::WorkItem& job, const model::WaitingView* waiting,
               Sight sight, const std::vector<std::string>& cards = {});

}  // namespace hostler::api
