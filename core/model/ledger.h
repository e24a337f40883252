#pragma once

#include <cstdint>
#include <string>

#include "core/base/time.h"
#include "core/model/event.h"
#include "core/model/ids.h"

namespace hostler::model {

/// One thing that happened; every one has a revision of its own. Append-only; `why`, the event
/// stream and the terminations' reasons read it.
struct LedgerRecord {
  Revision rev = 0;
  Wall time;
  std::uint64_t epoch = 0;
  std::string actor;    ///< "scheduler", "cloud local", "host", "user root", ...
  std::string subject;  ///< "j-42", "h-7", "set local", "pool default", "gate ...".
  Event event = Event::kUnknown;
  /// For programs: the code of a Reason, or data (a type's name, a key, an id), or empty;
  /// EventInfo::reason_code says which.
  std::string reason_code;
  std::string reason;  ///< One line for people.
  Revision cause_rev = 0;
  std::string data_json;  ///< An object, or empty.
  friend bool operator==(const LedgerRecord&, const LedgerRecord&) = default;
};

}  // namespace hostler::model
