#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/model/ids.h"

/// Why no host ends on which a scheduler has just placed work. A restart forgets all of it, so no
/// acknowledgement outlives what it was about.
namespace hostler::pushed {

/// The handshake of one pool: plans name hosts that are to go, answers tell the pusher, and a push
/// acknowledges. From then on the pusher places nothing there, until an answer names it no more.
class Handshake {
 public:
  /// Answers of this start have numbers above `base`; `seen` of others acknowledges nothing.
  explicit Handshake(std::uint64_t base) : last_(base) {}

  /// A push says that the scheduler has acted on answer `seen`, and that the agents of `busy` run
  /// tasks: it lists all others as idle, or not at all. A busy host is acknowledged no more, and is
  /// off the list unless it is `too_old`: that one goes once it is idle.
  void pushed(std::uint64_t seen, const std::set<model::InstanceId>& busy,
              const std::set<model::InstanceId>& too_old);
  /// Another session pushes: it knows of no answer to the one before. Called before pushed().
  void session_changed();
  /// The scheduler calls its agent there by another name now: what it was told of the one before
  /// says nothing of this one.
  void renamed(model::InstanceId id);
  /// The last plan wants these to go. Hosts that it does not name are off the list, and what was
  /// acknowledged of them counts no more.
  void planned(const std::set<model::InstanceId>& going);
  /// Just these are being ended or are off, for whatever reason: each answer names them, as their
  /// agents may still look idle to the scheduler.
  void ending(const std::set<model::InstanceId>& ids);

  /// The number of the next answer, and whom it names.
  struct Answer {
    std::uint64_t number = 0;
    std::vector<model::InstanceId> going;
  };
  [[nodiscard]] Answer answer();

  [[nodiscard]] bool is_going(model::InstanceId id) const { return going_.contains(id); }
  /// It may end: the pusher has promised to place nothing there, and said that nothing runs there.
  [[nodiscard]] bool is_acknowledged(model::InstanceId id) const;
  [[nodiscard]] std::uint64_t last() const { return last_; }

 private:
  struct Going {
    std::uint64_t named_by = 0;  ///< The first answer that names it; 0: none yet.
    bool acknowledged = false;
    bool ends = false;
  };
  std::uint64_t last_;
  std::map<model::InstanceId, Going> going_;
};

/// Where the answers of a start begin. Epochs are never used twice, also after a restore. So no two
/// of two million starts in a row give the same number: each has four billion, all below 2^53,
/// which JSON keeps.
[[nodiscard]] std::uint64_t answers_base(std::uint64_t epoch);

}  // namespace hostler::pushed
