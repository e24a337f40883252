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

/// How much of the past to keep. Live work and existing instances are kept in any case.
struct Keep {
  Duration age = 30 * 24h;
  std::uint64_t bytes = std::uint64_t{10} << 30U;  ///< Rows, segments and spool together.
  Duration blob_age = 24h;                         ///< Of blobs that no live work needs.
};

/// Removes old data: the ledger from its oldest record on, and a piece of work or an instance with
/// its last record; then segments that no row points into, then blobs. If more than Keep::bytes are
/// used, younger records are removed too, but none of the last hour. It works in short steps, each
/// a transaction, on the store thread.
class Tidy {
 public:
  struct Places {
    std::filesystem::path segments;
    Outputs* outputs = nullptr;
    const Blobs* blobs = nullptr;
    std::function<std::uint64_t()> current_segment;
  };
  /// `unknown_removals`: those that the last run left.
  Tidy(Places places, Keep keep, Wall now, std::vector<model::WorkId> unknown_removals = {});

  /// Does one step. True: there is more to do.
  Result<bool> step(Connection& connection);
  /// What was removed so far, also if a step failed.
  [[nodiscard]] const Tidied& result() const { return result_; }
  /// Work that may be removed: the answer to the COMMIT did not arrive.
  [[nodiscard]] const std::vector<model::WorkId>& unknown_removals() const {
    return unknown_removals_;
  }

 private:
  enum class Phase : std::uint8_t { kLedger, kBlobs, kDone };

  Result<Wall> cutoff(Connection& connection);
  Result<std::uint64_t> rows_left(Connection& connection, std::uint64_t rows);
  Result<bool> step_ledger(Connection& connection);
  Result<void> remove_records(Connection& connection, const std::vector<PastRecord>& records,
                              Wall until);
  Result<void> resolve_unknown_removals(Connection& connection);
  Result<std::vector<PastRecord>> next_records(Connection& connection) const;
  Result<void> remove_segments(Connection& connection);
  Result<void> remove_prices(Connection& connection, Wall cutoff);
  Result<bool> step_blobs(Connection& connection);

  const Places places_;
  const Keep keep_;
  const Wall now_;
  Phase phase_ = Phase::kLedger;
  model::Revision after_ = 0;           ///< Records up to this revision are done.
  std::set<std::string> unused_blobs_;  ///< Old ones that no work up to work_after_ needs.
  std::uint64_t work_after_ = 0;
  /// The size of the rows when it first exceeded the limit.
  struct Before {
    std::uint64_t bytes, records, gone;
  };
  std::optional<Before> before_;
  Tidied result_;
  std::vector<model::WorkId> unknown_removals_;
};

}  // namespace hostler::store
