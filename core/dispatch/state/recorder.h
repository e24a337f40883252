#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/dispatch/events.h"
#include "core/model/records.h"

namespace hostler::dispatch {

/// Collects the results of the call under way: changes for the journal, and effects that leave once
/// the changes are durable. Numbers the ledger's records.
class Recorder {
 public:
  /// Once, before anything is recorded.
  void restore(std::string owner, std::uint64_t epoch, model::Revision last);

  /// Adds a ledger record with the next revision. Valid until the next change. `cause`: the record
  /// that caused it, and stands for it in the log; 0: none.
  const model::LedgerRecord& record(const char* actor, std::string subject, model::Event event,
                                    std::string code, std::string reason, Now now,
                                    model::Revision cause = 0);
  void change(model::Change change) { out_.changes.push_back(std::move(change)); }
  void effect(Effect effect) { out_.effects.push_back(std::move(effect)); }
  /// A command for a host's link, as an effect.
  void command(model::HostCommand command) { effect(std::move(command)); }
  void reply(Ticket ticket, Result<std::vector<model::WorkId>> result) {
    effect(Reply{ticket, std::move(result)});
  }
  /// The effects of this call need the body of that work from the store.
  void want_body(model::WorkId work) { out_.bodies_wanted.push_back(work); }
  /// Makes room for `more` changes at once; many small calls in a row do not each move all.
  void reserve_changes(std::size_t more);
  /// Clears the pending changes and effects.
  void discard() { out_ = {}; }
  /// Returns and clears the pending changes and effects.
  Outbox take();

  [[nodiscard]] model::Revision revision() const { return revision_; }
  /// Of the store: its owner id, and how often a daemon has started on it.
  [[nodiscard]] const std::string& owner() const { return owner_; }
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }

 private:
  std::string owner_;
  std::uint64_t epoch_ = 0;
  model::Revision revision_ = 0;
  Outbox out_;
};

}  // namespace hostler::dispatch
