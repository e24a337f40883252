#include "core/dispatch/state/recorder.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"

namespace hostler::dispatch {

void Recorder::restore(std::string owner, std::uint64_t epoch, model::Revision last) {
  HOSTLER_ASSERT(revision_ == 0, "revisions begin once");
  owner_ = std::move(owner);
  epoch_ = epoch;
  revision_ = last;
}

const model::LedgerRecord& Recorder::record(const char* actor, std::string subject,
                                            model::Event event, std::string code,
                                            std::string reason, Now now, model::Revision cause) {
  model::LedgerRecord entry;
  entry.rev = ++revision_;
  entry.time = now.wall;
  entry.epoch = epoch_;
  entry.actor = actor;
  entry.subject = std::move(subject);
  entry.event = event;
  entry.reason_code = std::move(code);
  entry.reason = std::move(reason);
  entry.cause_rev = cause;
  return std::get<model::LedgerRecord>(out_.changes.emplace_back(std::move(entry)));
}

void Recorder::reserve_changes(std::size_t more) {
  const auto rows = out_.changes.size() + more;
  if (rows > out_.changes.capacity())
    out_.changes.reserve(std::max(rows, 2 * out_.changes.capacity()));
}

Outbox Recorder::take() { return std::exchange(out_, {}); }

}  // namespace hostler::dispatch
