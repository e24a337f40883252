#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/agent/host/journal/attempt_log.h"
#include "core/agent/host/system/device_guard.h"
#include "core/agent/host/system/slot_cgroups.h"

namespace hostler::agent {

/// Says which attempt has which cards, by the table of attempts alone, and lets the device guard
/// keep all others from them. An attempt has its cards while it runs. Used by the server's one
/// thread.
class CardHolders {
 public:
  /// Both must outlive it, and are open before open().
  CardHolders(AttemptLog& log, SlotCgroups& cgroups) : log_(log), guard_(cgroups) {}

  /// Finds out which guard this host has. HOSTLER_CARD_GUARD in the environment names the best one
  /// to try, as to_string(CardGuard) does.
  void open();
  /// The server ends: if no attempt runs, the device files get back the owners that they had.
  void close();
  /// Whether attempts have uids of their own: without, the owners of files protect nothing.
  void set_own_uids(bool own) { own_uids_ = own; }

  /// What this host can do.
  [[nodiscard]] model::CardGuard guard() const;
  /// Attempts need a cgroup for the guard: the host has cards, or had some.
  [[nodiscard]] bool need_cgroups() const;
  /// The attempt of each card and device file that one has, by UUID and path.
  [[nodiscard]] std::map<std::string, model::AttemptId> by_name() const;

  /// The device files of all cards, from now on, also for attempts that run. Those of an attempt
  /// that runs stay among them.
  void set_files(std::vector<std::string> files);
  /// Sets the guard for an attempt of the table that is about to start, after its cgroups were
  /// prepared. After an error it must not start.
  Result<void> admit(const Begin& begin);
  /// An attempt has left the table.
  void on_removed();

 private:
  [[nodiscard]] std::vector<CardHolder> holders() const;
  [[nodiscard]] bool shares_out() const;
  Result<void> share_out();
  static void keep(const std::vector<std::string>& files);

  AttemptLog& log_;
  DeviceGuard guard_;
  bool own_uids_ = false;
  /// Attempts that ran when the first file was named: they may use any card.
  std::set<model::AttemptId> older_;
};

}  // namespace hostler::agent
