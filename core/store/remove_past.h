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

/// A record of the ledger, as far as it tells what may go.
struct PastRecord {
  model::Revision rev = 0;
  Wall time;
  std::string subject;
};

struct Tidied {
  std::vector<model::WorkId> work;  ///< Gone with its ledger, attempts and output.
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

/// Removes `records`, which are older than `until`, in a transaction of the caller's. What speaks
/// of work or of an instance goes with all else of it, once that has ended and its last record is
/// older too; not before. The highest numbers are noted in meta: they are never given twice. Adds
/// to `result` what goes with the commit. Some dozen statements, however many records.
Result<void> remove_past(Connection& connection, Outputs& outputs,
                         const std::vector<PastRecord>& records, Wall until, Tidied& result);

}  // namespace hostler::store
