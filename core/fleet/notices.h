#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/base/time.h"
#include "core/fleet/deadline.h"
#include "core/model/interruption.h"

namespace hostler::fleet {

/// Events of the notices of one instance, until one comes true or lapses.
inline constexpr std::uint32_t kNoticesToldMax = 20;

/// Both announce one interruption. Sources compute its time in their own ways, and not all say the
/// action: lists cannot.
[[nodiscard]] bool is_alike(const model::Notice& a, const model::Notice& b);

/// Notices that the cloud takes an instance back, one of each source, and the cordon that follows.
/// The record has the notice that counts; a restart keeps only that one. A host is cordoned by a
/// notice that holds, or that has just come true and is looked at at once.
class Notices {
 public:
  using BySource = std::array<std::optional<model::Notice>, model::kNoticeSources>;

  /// The notice of the record, after a restart: it is looked at at once.
  void restore(const model::Notice& notice, Mono now);
  /// A source says so now. False: it has said the same before.
  [[nodiscard]] bool take(model::Notice notice, Wall now);
  /// False: the source has given none.
  [[nodiscard]] bool withdraw(model::NoticeSource source);
  void drop_past(Wall now);
  /// The host was booted anew: a notice of that has come true, and is looked at at once.
  void restart_happened(Now now);
  /// The instance is off: a notice of that has come true. True: no other one holds.
  [[nodiscard]] bool stop_happened();
  /// The cloud takes it away, whether or not a notice says when.
  void set_reclaimed() { reclaimed_ = true; }
  /// No new work: it will be interrupted soon. Its work is replaced, and empty it is ended.
  void set_cordoned(bool cordoned);
  /// None counts any more, and the cordon ends. `is_withdrawn`: the count of events goes on, so a
  /// source that gives and withdraws notices again and again cannot fill the ledger.
  void end(bool is_withdrawn);
  void look_again_at(Mono time) { deadline_ = time; }
  /// False: enough events were told.
  [[nodiscard]] bool tell();

  /// The first interruption of those announced, with its action if any source says it.
  [[nodiscard]] std::optional<model::Notice> first() const;
  [[nodiscard]] const BySource& all() const { return notices_; }
  [[nodiscard]] const std::optional<model::Notice>& of(model::NoticeSource source) const {
    return notices_[static_cast<std::size_t>(source)];
  }
  [[nodiscard]] Mono deadline() const { return deadline_; }
  [[nodiscard]] bool may_tell() const { return told_ < kNoticesToldMax; }
  [[nodiscard]] bool is_cordoned() const { return cordoned_; }
  [[nodiscard]] bool is_reclaimed() const { return reclaimed_; }
  /// A notice had announced its last boot.
  [[nodiscard]] bool was_restart_announced() const { return restart_announced_; }
  /// It was cordoned when it was last stopped, and has not booted since.
  [[nodiscard]] bool was_stop_announced() const { return stop_announced_; }

 private:
  std::optional<model::Notice>& at(model::NoticeSource source) {
    return notices_[static_cast<std::size_t>(source)];
  }
  [[nodiscard]] bool any_holds() const;

  BySource notices_;
  Mono deadline_ = kNever;  ///< notice_due() is called then.
  std::uint32_t told_ = 0;  ///< Events since one came true or lapsed.
  bool cordoned_ = false;
  bool reclaimed_ = false;
  bool restart_announced_ = false;
  bool stop_announced_ = false;
};

}  // namespace hostler::fleet
