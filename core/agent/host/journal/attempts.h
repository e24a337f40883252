#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/agent/host/journal/journal.h"
#include "core/agent/protocol.h"

namespace hostler::agent {

/// One attempt that the daemon has not acknowledged yet.
struct Attempt {
  Begin begin;
  std::optional<model::AttemptEnd> end;
  bool spooled = true;               ///< See End.
  bool unknown_end = false;          ///< Began in an earlier boot and left no end.
  std::uint64_t journal_number = 0;  ///< The file that its shim appends to.

  [[nodiscard]] Phase phase() const {
    return unknown_end ? Phase::kUnknownEnd : end ? Phase::kEnded : Phase::kRunning;
  }
};

/// The table of attempts: the result of applying all records of the journal in order. No I/O.
class Attempts {
 public:
  void apply(Record&& record);

  [[nodiscard]] Attempt* find(model::AttemptId id);
  [[nodiscard]] std::map<model::AttemptId, Attempt>& all() { return all_; }
  /// Returns the attempts whose End was applied since the last call.
  std::set<model::AttemptId> take_ended();

  /// The records that make this table. A new journal file begins with them.
  [[nodiscard]] std::string snapshot() const;

  std::string state_id;             ///< Names this state folder; see Hello.
  std::uint64_t last_sequence = 0;  ///< The highest sequence number of all Begin records.

 private:
  std::map<model::AttemptId, Attempt> all_;
  std::set<model::AttemptId> ended_;
};

}  // namespace hostler::agent
