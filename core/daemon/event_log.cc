#include "core/daemon/event_log.h"

#include <map>
#include <utility>

#include "core/base/text.h"

namespace hostler::daemon {
namespace {

/// Clouds, hosts and users write parts of a record: one record must not fill the log.
constexpr std::size_t kSubjectMax = 200, kCodeMax = 200, kReasonMax = 1000;

/// Lines of one commit about the same event. A whole fleet may be adopted by a restart.
constexpr std::size_t kAlikeMax = 100;

std::optional<log::Level> level_of(model::Severity severity) {
  switch (severity) {
    case model::Severity::kDebug:
      return std::nullopt;
    case model::Severity::kInfo:
      return log::Level::kInfo;
    case model::Severity::kWarning:
      return log::Level::kWarn;
    case model::Severity::kAlarm:
      return log::Level::kError;
  }
  return std::nullopt;
}

}  // namespace

std::optional<EventLine> line_of(const model::LedgerRecord& record) {
  const auto level = level_of(model::severity_of(record.event, record.reason_code));
  if (!level) return std::nullopt;
  // Its cause stands for it in the log: thousands may have the same one.
  if (record.cause_rev != 0 && *level != log::Level::kError) return std::nullopt;
  const auto& event = model::info(record.event);
  std::string text = printable(record.subject, kSubjectMax) + " " + event.code;
  if (!record.reason_code.empty()) text += " [" + printable(record.reason_code, kCodeMax) + "]";
  text += ": ";
  text += record.reason.empty() ? event.sentence : printable(record.reason, kReasonMax);
  return EventLine{*level, record.event, std::move(text)};
}

std::vector<EventLine> lines_of(const std::vector<model::Change>& changes) {
  std::vector<EventLine> out;
  for (const auto& change : changes)
    if (const auto* record = std::get_if<model::LedgerRecord>(&change))
      if (auto line = line_of(*record)) out.push_back(*std::move(line));
  return out;
}

void write_events(const std::vector<EventLine>& lines, metrics::Metrics& metrics) {
  std::map<std::pair<log::Level, model::Event>, std::size_t> counts;
  for (const auto& [level, event, text] : lines) {
    if (level == log::Level::kError) metrics.alarm(event);
    if (++counts[{level, event}] <= kAlikeMax) log::write(level, "event", text);
  }
  for (const auto& [kind, count] : counts)
    if (count > kAlikeMax)
      log::write(kind.first, "event",
                 std::to_string(count - kAlikeMax) + " more " + model::to_string(kind.second) +
                     "; see hostler events");
}

}  // namespace hostler::daemon
