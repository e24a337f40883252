#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/log/log.h"
#include "core/metrics/metrics.h"
#include "core/model/records.h"

namespace hostler::daemon {

/// A ledger record as a line of the log.
struct EventLine {
  log::Level level{};
  std::string text;
  friend bool operator==(const EventLine&, const EventLine&) = default;
};

/// nullopt below severity info: the normal steps of jobs would fill the log.
[[nodiscard]] std::optional<EventLine> line_of(const model::LedgerRecord& record);

/// Writes the log lines of the ledger records among the changes, and counts the alarms. Loop
/// thread; blocks while standard error does.
void log_events(const std::vector<model::Change>& changes, metrics::Metrics& metrics);

}  // namespace hostler::daemon
