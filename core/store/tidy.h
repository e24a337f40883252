#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/store/database.h"
#include "core/store/files/blobs.h"
#include "core/store/files/outputs.h"
#include "core/store/remove_past.h"

namespace hostler::store {

using namespace std::chrono_literals;

/// What is kept of things past; of live work and of instances that are there everything is.
struct Keep {
  Duration age = 30 * 24h;
  std::uint64_t bytes = std::uint64_t{10} << 30U;  ///< Rows, segments and spool together.
  Duration blob_age = 24h;                         ///< Of blobs that no live work needs.
};

/// Removes what is past keeping: the ledger from its oldest record on, and with the last
/// record of a piece of work or of an instance all of it; then segments that no row points into,
/// then blobs. Beyond Keep::bytes what is younger goes too, but nothing of the last hour. In short
/// steps, each a transaction, on the store thread.
class Tidy {
 public:
  struct Places {
    std::filesystem::path segments;
    Outputs* outputs = nullptr;
    const Blobs* blobs = nullptr;
    std::function<std::uint64_t()> current_segment;
  };
  /// `doubtful`: of the run before.
  Tidy(Places places, Keep keep, Wall now, std::vector<model::WorkId> doubtful = {});

  /// One step; true: there is more to do.
  Result<bool> step(Connection& connection);
  /// What went so far, also if a step failed.
  [[nodiscard]] const Tidied& result() const { return result_; }
  /// Work of which only the answer to its COMMIT could tell whether it was removed.
  [[nodiscard]] const std::vector<model::WorkId>& doubtful() const { return doubtful_; }

 private:
  enum class Phase : std::uint8_t { kLedger, kBlobs, kDone };

  Result<Wall> cutoff(Connection& connection);
  Result<std::uint64_t> rows_left(Connection& connection, std::uint64_t rows);
  Result<bool> step_ledger(Connection& connection);
  Result<void> remove_records(Connection& connection, const std::vector<PastRecord>& records,
                              Wall until);
  Result<void> settle_doubts(Connection& connection);
  Result<std::vector<PastRecord>> next_records(Connection& connection) const;
  Result<void> remove_segments(Connection& connection);
  Result<void> remove_prices(Connection& connection, Wall cutoff);
  Result<bool> step_blobs(Connection& connection);

  const Places places_;
  const Keep keep_;
  const Wall now_;
  Phase phase_ = Phase::kLedger;
  model::Revision after_ = 0;           ///< Records up to this one were looked at.
  std::set<std::string> unused_blobs_;  ///< Old ones that no work up to work_after_ needs.
  std::uint64_t work_after_ = 0;
  /// The rows, when they were first found to be too many.
  struct Before {
    std::uint64_t bytes, records, gone;
  };
  std::optional<Before> before_;
  Tidied result_;
  std::vector<model::WorkId> doubtful_;
};

}  // namespace hostler::store
