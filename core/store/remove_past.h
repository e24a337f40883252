#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/model/ids.h"
#include "core/store/database.h"
#include "core/store/files/outputs.h"

namespace hostler::store {

/// The part of a ledger record that decides whether it is removed.
struct PastRecord {
  model::Revision rev = 0;
  Wall time;
  std::string subject;
};

struct Tidied {
  std::vector<model::WorkId> work;  ///< Removed with its ledger, attempts and output.
  std::uint64_t instances = 0, records = 0, segments = 0, blobs = 0;

  Tidied& operator+=(const Tidied& more) {
    work.insert(work.end(), more.work.begin(), more.work.end());
    instances += more.instances;
    records += more.records;
    segments += more.segments;
    blobs += more.blobs;
    return *this;
  }
};

/// Removes `records`, which are older than `until`, in the caller's transaction. Records of a piece
/// of work or of an instance are removed together with its rows and files, and only after it has
/// ended and its last record is older than `until`. The highest numbers are saved in meta, so no
/// number is used twice. Adds to `result` what the commit will remove. Runs some dozen statements
/// for any number of records.
Result<void> remove_past(Connection& connection, Outputs& outputs,
                         const std::vector<PastRecord>& records, Wall until, Tidied& result);

}  // namespace hostler::store
