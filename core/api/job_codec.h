#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/json/reader.h"
#include "core/json/writer.h"
#include "core/model/job.h"
#include "core/model/job_limits.h"
#include "core/model/records.h"
#include "core/model/views.h"

/// A job in JSON, alike in file, API, store and `hostler job --json`. No I/O, any thread.
namespace hostler::api {

/// A longer one is refused before it is parsed. All that a job may hold adds up to less than this,
/// also where each byte of its texts is an escape of six.
inline constexpr std::size_t kJobJsonBytesMax = std::size_t{24} << 20U;

/// An input that names a local file ("from") in place of a blob's sha256, and is yet to be
/// uploaded by who read it.
struct LocalInput {
  std::size_t index = 0;  ///< In JobSpec::inputs; its sha256 is empty.
  std::string from;
};

/// Reads one job as a submitter sends it. Absent members leave JobSpec's defaults; env is sorted.
/// Errors carry the path. `local`: where set, "from" is allowed in inputs.
Result<model::JobSpec> read_job(std::string_view json, const model::JobLimits& limits = {},
                                std::vector<LocalInput>* local = nullptr);
/// The same for a value inside a larger document; false, and problems, if it is no good.
bool read_job(const json::Field& field, const model::JobLimits& limits, model::JobSpec& out,
              std::vector<LocalInput>* local = nullptr);

/// The whole job as compact JSON: equal specs give equal text, and read_job gives the spec back.
/// It is what the store keeps and what the same client_key is compared by.
std::string canonical_body(const model::JobSpec& spec);

/// What the store keeps of a job that was read: its shape, name, client key and body.
model::WorkItem submitted_job(model::JobSpec spec);

/// Who looks: the role `read` sees no environment, input or output.
enum class Sight : std::uint8_t { kAll, kPublic };

/// Why a job waits, `waiting_because`: one object.
void write_waiting(json::Writer& out, const model::WaitingView& waiting);

/// Writes a job as it is now: what is known of it, then (if `job.body` is set) what was submitted.
/// `waiting` may be null. One object; the caller has no other work with the writer's commas.
void write_job(json::Writer& out, const model::WorkItem& job, const model::WaitingView* waiting,
               Sight sight);

}  // namespace hostler::api
