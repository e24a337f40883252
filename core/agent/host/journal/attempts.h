#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/agent/host/journal/journal.h"
#include "core/agent/protocol.h"

namespace hostler::agent {

/// One attempt that the daemon has not acknowledged.
struct Attempt {
  Begin begin;
  std::optional<model::AttemptEnd> end;
  bool spooled = true;               ///< See End.
  bool unknown_end = false;          ///< Begun in a boot that is over.
  std::uint64_t journal_number = 0;  ///< The file that its shim appends to.

  [[nodiscard]] Phase phase() const {
    return unknown_end ? Phase::kUnknownEnd : end ? Phase::kEnded : Phase::kRunning;
  }
};

/// What the server knows: the journal, applied. No I/O.
class Attempts {
 public:
  void apply(Record&& record);

  [[nodiscard]] Attempt* find(model::AttemptId id);
  [[nodiscard]] std::map<model::AttemptId, Attempt>& all() { return all_; }
  /// Attempts whose end was applied since the last call.
  std::set<model::AttemptId> take_ended();

  /// Everything, as the begin of a new journal file.
  [[nodiscard]] std::string snapshot() const;

  std::string state_id;
  std::uint64_t last_sequence = 0;

 private:
  std::map<model::AttemptId, Attempt> all_;
  std::set<model::AttemptId> ended_;
};

}  // namespace hostler::agent
