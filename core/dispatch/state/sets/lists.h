#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/dispatch/state/sets/last_list.h"
#include "core/fleet/instance.h"
#include "core/model/ids.h"

namespace hostler::dispatch {

/// A driver may ask for a pause before the next list, question or watch. hostlerd waits at most
/// this long: without lists nobody knows what exists.
inline constexpr Duration kAskedPauseMax = std::chrono::minutes(10);

/// What waits for the first list of a set after a start.
struct FirstList {
  /// The list may show instances that the rows do not have: nothing is created before.
  bool holds_creates = false;
  /// The list may even show that the rows, which end in this epoch, are old: nothing at all is done
  /// to the set's instances before.
  std::optional<std::uint64_t> rows_end;
  /// The last list is not taken for the first one, because it shows an instance of a later epoch.
  /// One sentence for people; empty: it does not.
  std::string later;
};

/// The calls of list of one set, one at a time.
class ListCalls {
 public:
  [[nodiscard]] bool is_due(Mono now) const { return next() <= now; }
  /// The next call, if the set is open; kNever while one is under way.
  [[nodiscard]] Mono next() const { return under_way_ ? fleet::kNever : at_; }
  /// When the call under way was sent; unset: none is.
  [[nodiscard]] std::optional<Mono> under_way_since() const {
    return under_way_ ? std::optional(sent_) : std::nullopt;
  }
  /// The driver dies in list, so that the set is not seen: why it is suspended; empty: it is not.
  [[nodiscard]] const std::string& suspended() const { return suspended_; }

  /// A list is wanted at `at`. It is sent then or later: at least `pause` after the last one, and
  /// not while the cloud wants to be left alone.
  void want(Mono at, Duration pause);
  /// The pause that the cloud has asked for is over.
  void end_asked_pause() { not_before_ = Mono::min(); }
  /// The daemon starts. Until the first list it knows nothing newer than its journal: as if a good
  /// list had been sent now. Lists are wanted every `interval`.
  void begin(Duration interval, Mono now);
  /// The set was opened: its first list is sent at once.
  void opened(Mono now);
  /// The list that is due waits until then.
  void hold_back(Mono until) { at_ = until; }
  void sent(Mono now);
  void answered() { under_way_ = false; }
  /// The list that was sent then is good. True: the set was suspended, or it was overdue, until
  /// now.
  bool succeeded(Mono sent, Duration interval, Mono now);
  /// The list was refused. `asked`: how long the cloud wants to be left alone, if it says so.
  /// Returns the pause until the next one.
  [[nodiscard]] Duration failed(std::optional<Duration> asked, Mono now);
  /// False: it was suspended for this before.
  bool suspend(const std::string& why);
  /// overdue_at() has come.
  void set_overdue();

  /// A good list is overdue then: the last one is much older than lists of the set should be.
  /// kNever once it is.
  [[nodiscard]] Mono overdue_at() const { return overdue_ ? fleet::kNever : overdue_at_; }
  [[nodiscard]] bool is_overdue() const { return overdue_; }
  /// When the last good list was sent.
  [[nodiscard]] Mono good_at() const { return good_at_; }

 private:
  bool under_way_ = false;
  Mono at_ = fleet::kNever;
  Mono not_before_ = Mono::min();  ///< The cloud has asked for it.
  Mono sent_{};                    ///< The last one.
  std::uint32_t failures_ = 0;     ///< In a row.
  std::string suspended_;
  Mono good_at_{};
  Mono overdue_at_ = fleet::kNever;
  bool overdue_ = false;
};

/// What lists have shown of a set.
struct Shown {
  LastList last;
  std::int64_t count = 0;          ///< Instances in the last list, ours or not.
  bool foreign = false;            ///< Instances of another owner: nothing is created in the set.
  std::optional<Mono> flaws_told;  ///< When an event last said what is odd in a list.
  std::uint32_t tag_repairs_left = 0;  ///< Until the next list.
};

/// Doubt about a list that omits half of the set's instances (three or more), or all. The cloud is
/// asked for the missing ones by their ids.
struct ListDoubt {
  enum class Answers { kAwaited, kOverdue, kComplete };

  Wall since;
  Mono patience_ends;     ///< Creates go on then, even without an answer.
  bool reported = false;  ///< It is worth an event.
  Answers answers = Answers::kAwaited;

  [[nodiscard]] bool is_asking() const { return answers != Answers::kComplete; }
};

/// What the last complete list omits, and whether that is believed.
class Omissions {
 public:
  /// Instances that it omits and should show, and vanished ones that still count for ceilings.
  [[nodiscard]] const std::vector<model::InstanceId>& instances() const { return instances_; }
  /// Of the last complete list; lists that leave an admin the same to believe have the same number.
  [[nodiscard]] std::uint64_t list_number() const { return list_number_; }
  [[nodiscard]] const std::optional<ListDoubt>& doubt() const { return doubt_; }
  /// The list is doubted, and hostlerd still waits for what the cloud says of each instance.
  [[nodiscard]] bool awaits_answers() const {
    return doubt_ && doubt_->answers == ListDoubt::Answers::kAwaited;
  }
  /// When it waits no longer; kNever if it does not wait.
  [[nodiscard]] Mono patience_ends() const {
    return awaits_answers() ? doubt_->patience_ends : fleet::kNever;
  }

  void take(std::vector<model::InstanceId> instances);
  /// Not the omissions of the list are to be believed, but something else, or nothing any more.
  void renumber() { ++list_number_; }
  /// The last list is doubted from now on. `reported`: an event says so.
  void begin_doubt(bool reported, Now now);
  void end_doubt() { doubt_.reset(); }
  /// The list is doubted: are answers of the cloud still to come? True: this is news.
  bool set_asking(bool asking, Mono now);
  /// patience_ends() has come.
  void set_overdue();

 private:
  std::vector<model::InstanceId> instances_;
  std::uint64_t list_number_ = 0;
  std::optional<ListDoubt> doubt_;
};

/// Look-ups of instances by their ids.
struct LookUps {
  std::set<model::InstanceId> to_send;
  Mono not_before{};
  std::uint32_t failures = 0;  ///< In a row.
  bool supported = true;       ///< False: the driver has said that it cannot.
  bool under_way = false;

  /// The next call, if the set is open; kNever: none is to be made.
  [[nodiscard]] Mono next() const {
    return under_way || to_send.empty() ? fleet::kNever : not_before;
  }
};

}  // namespace hostler::dispatch
