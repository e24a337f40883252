#pragma once

#include <cstdint>
#include <string>

#include "core/base/time.h"
#include "core/model/ids.h"

namespace hostler::model {

/// One thing that happened; every one has a revision of its own. Append-only; `why`, the event
/// stream and the terminations' reasons read it.
struct LedgerRecord {
  Revision rev = 0;
  Wall time;
  std::uint64_t epoch = 0;
  std::string actor;        ///< "scheduler", "cloud local", "host", "user root", ...
  std::string subject;      ///< "j-42", "h-7", "set local", "pool default", "gate ...".
  std::string event;        ///< "submitted", "create_intended", "verified", "terminating", ...
  std::string reason_code;  ///< Machine-readable; empty where the event says it all.
  std::string reason;       ///< One line for people.
  Revision cause_rev = 0;
  std::string data_json;  ///< An object, or empty.
  friend bool operator==(const LedgerRecord&, const LedgerRecord&) = default;
};

}  // namespace hostler::model
