#pragma once

#include <optional>
#include <string>

#include "core/base/time.h"
#include "core/fleet/absence.h"
#include "core/model/cloud.h"

namespace hostler::fleet {

/// What lists and look-ups of a cloud say of an instance. A restart forgets it.
class Listing {
 public:
  /// The instance is known to exist, or its create was sent: lists that were sent until then say
  /// nothing.
  void ignore_until(Mono time);
  /// The cloud shows it. `is_power_old`: what it says of the power is of no use.
  void shown(const model::ListedInstance& seen, bool is_power_old, Mono now);
  /// Keeps the error of which the cloud says that the instance has died, for the reason of its end.
  /// Also for a record that counts as absent.
  void note_error(const model::ListedInstance& seen);
  /// A complete list, sent then, does not show it. That counts as evidence.
  void omitted(Mono sent);

  /// A list does not show it, which is looked into from now on. Again: no effect.
  void doubt(Wall now, Mono sent);
  /// A look-up, sent then, did not find it. `gone`: the cloud says that it is gone.
  void not_found(Mono sent, bool gone);
  /// A look-up, sent then, found it, whatever lists say: the doubt from before goes on.
  void found(const Absence& before, Mono sent);
  /// Its connection lives on against the lists. True: an alarm is to be raised, this once.
  [[nodiscard]] bool contradict();
  /// The contradiction goes on: the host gets no new work.
  void withhold();
  /// Its connection contradicts the lists no more: they and a look-up decide anew.
  void connection_lost();
  /// Nothing speaks against the instance any more.
  void end_doubt() { absence_.reset(); }

  /// It has vanished. `counts`: for ceilings.
  void vanished(bool counts);
  /// True: it counted for ceilings until now.
  [[nodiscard]] bool stop_counting();
  /// True: gates are to hear of its shortage, this once.
  [[nodiscard]] bool tell_shortage();
  /// Listed as failed while it is connected. True: an event is to say so, this once.
  [[nodiscard]] bool tell_failure();

  /// The list says nothing new: it may be older than what is known.
  [[nodiscard]] bool is_old(Mono list_sent) const { return list_sent <= known_at_; }
  /// When its create was sent, or a list last showed it.
  [[nodiscard]] Mono known_at() const { return known_at_; }
  /// When the last list without it that counts was sent.
  [[nodiscard]] Mono absent_at() const { return absent_at_; }
  /// Unset: the last list showed it, or none was asked yet.
  [[nodiscard]] const std::optional<Absence>& absence() const { return absence_; }
  [[nodiscard]] bool is_withheld() const { return absence_ && absence_->withheld; }
  /// The last list showed it off, or ending.
  [[nodiscard]] bool is_off() const { return off_; }
  /// kVanished: it counts for ceilings.
  [[nodiscard]] bool counts_vanished() const { return counts_vanished_; }
  [[nodiscard]] bool is_unfulfilled_spot() const { return unfulfilled_spot_; }
  /// The last list said what it costs.
  [[nodiscard]] bool has_price() const { return has_price_; }
  /// The error of which it died or cannot run, as the cloud says; empty: none.
  [[nodiscard]] const std::string& error() const { return error_; }
  /// What the cloud lacked for it, if that was its error.
  [[nodiscard]] const std::optional<model::Shortage>& shortage() const { return shortage_; }

 private:
  Mono known_at_, absent_at_;
  std::optional<Absence> absence_;
  bool off_ = false;
  bool counts_vanished_ = true;
  bool unfulfilled_spot_ = false;
  bool failure_told_ = false;
  bool has_price_ = false;
  std::string error_;
  std::optional<model::Shortage> shortage_;
  bool shortage_told_ = false;
};

/// The instance is off, or is being switched off.
[[nodiscard]] bool is_switched_off(model::CloudState state);

}  // namespace hostler::fleet
