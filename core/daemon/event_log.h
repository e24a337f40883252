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
  log::Level level{};  ///< error for severity alarm, and for nothing else.
  model::Event event{};
  std::string text;
  friend bool operator==(const EventLine&, const EventLine&) = default;
};

/// nullopt below severity info: the normal steps of jobs would fill the log. So would records that
/// another one has caused, if they are no alarms.
[[nodiscard]] std::optional<EventLine> line_of(const model::LedgerRecord& record);

/// The lines of the ledger records among the changes, in their order.
[[nodiscard]] std::vector<EventLine> lines_of(const std::vector<model::Change>& changes);

/// Writes the lines, of very many about one event the first and a count, and counts the alarms.
/// Blocks while standard error does: not for the loop thread. Only for changes that are durable:
/// others may never have happened.
void write_events(const std::vector<EventLine>& lines, metrics::Metrics& metrics);

}  // namespace hostler::daemon
