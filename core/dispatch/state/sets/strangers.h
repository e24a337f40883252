#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/base/time.h"
#include "core/fleet/instance.h"
#include "core/gates/governor.h"
#include "core/model/cloud.h"
#include "core/model/ids.h"

namespace hostler::dispatch {

/// How many strangers are adopted at once, and how many are doubted. Tests have smaller numbers.
struct AdoptionLimits {
  std::size_t slice = 500;   ///< Of one turn of the loop: other events wait meanwhile.
  std::size_t taken = 5000;  ///< Entries of a list that are looked at in one turn.
  /// A list is doubted that has more of them than this, with those of the last day ...
  std::size_t doubted = 1000;
  /// ... and more than so many times the `max` of the set's pools.
  std::int64_t per_max = 10;
};

/// A machine that a list shows as the set's, and that the journal does not have.
struct Stranger {
  std::shared_ptr<const model::ListedInstance> seen;
  std::uint32_t pool = 0;
  model::Micros price_per_hour;  ///< It counts for ceilings until it is adopted.
};

/// A complete list with all that is still to be done about it.
struct StrangeList {
  Mono sent, as_of;                      ///< When the call was made; no data are older than as_of.
  std::vector<model::InstanceId> shown;  ///< Of the journal, and those that were adopted.
  std::vector<Stranger> strangers;       ///< In the order of the list.
  model::Revision cause = 0;  ///< The record of the adoption of all; 0: each has its own alone.
};

/// How many came in the last day, hour by hour.
class LastDay {
 public:
  void add(Mono now);
  [[nodiscard]] std::size_t count(Mono now) const;
  void clear() { hours_.clear(); }

 private:
  struct Hour {
    Mono since;
    std::size_t count = 0;
  };
  std::deque<Hour> hours_;
};

/// The strangers of a set's last list. They are adopted in slices, and no newer list is asked for
/// before the last one. Or the list is doubted, and none is adopted until an admin believes it.
class Strangers {
 public:
  [[nodiscard]] bool is_doubted() const { return doubted_since_.has_value(); }
  [[nodiscard]] bool is_adopting() const { return !left().empty() && !is_doubted(); }
  [[nodiscard]] const std::optional<Wall>& doubted_since() const { return doubted_since_; }
  /// Those that are not adopted yet.
  [[nodiscard]] std::span<const Stranger> left() const {
    return std::span(list_.strangers).subspan(adopted_);
  }
  /// The next slice; kNever if none is to be adopted.
  [[nodiscard]] Mono next() const { return is_adopting() ? next_ : fleet::kNever; }
  /// How many of them, with those that were adopted in the last day, no admin has believed.
  [[nodiscard]] std::size_t unbelieved(std::span<const Stranger> strangers, Mono now) const;
  /// Why nothing is created in the set now, one sentence for people; empty: creates may be sent.
  [[nodiscard]] std::string refuses_creates(const std::string& set) const;
  /// Adds them to a new governor's account.
  void count(std::uint32_t set, gates::Governor& governor) const;

  [[nodiscard]] StrangeList& list() { return list_; }
  /// Takes the list in place of the one before, which it returns. `many`: the list is doubted.
  StrangeList take(StrangeList list, bool many, Now now);
  /// What the doubted list shows is the set's.
  void believe(Mono now);
  /// The first of left() is adopted, or known by now.
  void adopted(Mono now);
  void continue_at(Mono next) { next_ = next; }
  /// The list is done, or nothing is to be done about it any more.
  StrangeList end();

 private:
  StrangeList list_;
  std::size_t adopted_ = 0;  ///< Of its strangers.
  Mono next_{};
  std::optional<Wall> doubted_since_;
  LastDay lately_;                            ///< Adopted, but for those that were believed.
  std::size_t lately_then_ = 0;               ///< Of the day before the list.
  std::unordered_set<std::string> believed_;  ///< An admin has said that these ids are the set's.
};

}  // namespace hostler::dispatch
