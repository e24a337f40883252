#include "core/sources/schedule.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/assert.h"
#include "core/sources/reading.h"

namespace hostler::sources {
namespace {

/// The first time after `now` that is a whole number of intervals after `from`.
Mono next_multiple(Mono from, Duration interval, Mono now) {
  return from + interval * ((now - from) / interval + 1);
}

}  // namespace

std::vector<ReadingId> Schedule::replace(std::vector<model::MetricSource> sources, Mono now) {
  std::map<std::string, Entry> before;
  for (Entry& entry : entries_) {
    std::string name = entry.source.name;
    before.emplace(std::move(name), std::move(entry));
  }
  entries_.clear();
  for (model::MetricSource& source : sources) {
    HOSTLER_ASSERT(source.interval > Duration(), "intervals are positive");
    const auto same = before.find(source.name);
    if (same != before.end() && same->second.source == source) {
      entries_.push_back(std::move(same->second));
      before.erase(same);
    } else {
      entries_.push_back({.source = std::move(source), .due = now, .deadline = now});
    }
  }
  std::vector<ReadingId> unwanted;
  for (const auto& [name, entry] : before)
    if (entry.reading) unwanted.push_back(*entry.reading);
  return unwanted;
}

std::vector<Started> Schedule::take_due(Mono now) {
  std::vector<Started> started;
  for (Entry& entry : entries_) {
    if (entry.reading || entry.due > now) continue;
    entry.reading = ++last_;
    entry.deadline = now + entry.source.timeout + kGrace;
    entry.is_overdue = false;
    started.push_back({last_, entry.source});
  }
  return started;
}

std::vector<Started> Schedule::take_overdue(Mono now) {
  std::vector<Started> overdue;
  for (Entry& entry : entries_) {
    if (!entry.reading || entry.is_overdue || entry.deadline > now) continue;
    entry.is_overdue = true;
    overdue.push_back({*entry.reading, entry.source});
  }
  return overdue;
}

bool Schedule::end(ReadingId id, Mono now) {
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& one) { return one.reading == id; });
  if (entry == entries_.end()) return false;
  entry->reading.reset();
  entry->due = next_multiple(entry->due, entry->source.interval, now);
  return !entry->is_overdue;
}

std::optional<Mono> Schedule::next() const {
  std::optional<Mono> next;
  for (const Entry& entry : entries_) {
    if (entry.reading && entry.is_overdue) continue;
    const Mono at = entry.reading ? entry.deadline : entry.due;
    if (!next || at < *next) next = at;
  }
  return next;
}

}  // namespace hostler::sources
