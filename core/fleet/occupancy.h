#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/time.h"
#include "core/fleet/deadline.h"
#include "core/fleet/host_cards.h"
#include "core/model/host.h"
#include "core/model/ids.h"
#include "core/model/policy.h"
#include "core/model/resources.h"

namespace hostler::fleet {

/// What has come of the output of an attempt that has ended. A restart forgets it.
struct OutputFetch {
  std::uint64_t here = 0, size = 0;  ///< Bytes, as the link last told; 0: it has not.
  bool waits_for_room = false;       ///< At the daemon: the host cannot send.
  std::uint64_t received = 0;        ///< On this connection.
  Mono due = kNever;                 ///< The host has to send a byte until then.
  friend bool operator==(const OutputFetch&, const OutputFetch&) = default;
};
/// A host that can send output has to send some of it within this time.
inline constexpr Duration kOutputPatience = std::chrono::minutes(10);

/// An attempt that was placed on a host, until the host gets the command to forget it.
struct PlacedAttempt {
  model::AttemptId attempt;
  std::string boot_id;         ///< Of the host when the attempt was placed.
  std::uint64_t sequence = 0;  ///< Of its start on that boot.
  model::Resources needs;
  bool collecting = false;           ///< Ended; its output is still to come.
  std::uint64_t output_bytes = 0;    ///< Of its output, once it has ended.
  std::optional<Mono> started = {};  ///< When the host reported that it runs.
  OutputFetch fetch = {};
  std::vector<std::string> cards = {};  ///< UUIDs of those that it got; its own until it has ended.
  friend bool operator==(const PlacedAttempt&, const PlacedAttempt&) = default;
};

/// A host with more output than this to collect gets no new work: attempts, and their bytes.
inline constexpr std::uint32_t kCollectingMax = 64;
inline constexpr std::uint64_t kCollectingBytesMax = std::uint64_t{256} << 20;

/// The bytes of both streams together. A host may report any numbers: kCollectingBytesMax at most.
[[nodiscard]] std::uint64_t output_size(std::uint64_t stdout_bytes, std::uint64_t stderr_bytes);

/// Work that uses a part of a host without attempts: a lease or a reservation.
struct Claim {
  model::WorkId work;
  model::Resources needs;
  bool whole = false;  ///< Nothing else may be on the host: it is lent.
  friend bool operator==(const Claim&, const Claim&) = default;
};

/// The room of one host, and the attempts and claims on it. Only this class adds up the room that
/// they take, and each of them frees its room once. A host is also in use by attempts that it
/// reports and that are left alone; their needs are not known. Others that it reports are ended,
/// and run until then.
///
/// Who has which card follows from that, and is stored nowhere else: an attempt has its cards while
/// it takes room, and those that its host says it has while it runs there. A claim has them all.
/// Also a card that has failed or vanished stays with its attempt.
class Occupancy {
 public:
  void add(PlacedAttempt attempt);
  void add(Claim claim);
  /// The host reports that the attempt runs. Again: no effect.
  void set_started(const model::AttemptId& attempt, Mono at);
  /// The attempt ended, and has output of this output_size().
  void set_output(const model::AttemptId& attempt, std::uint64_t bytes);
  /// The attempt ended: its room is free, its output is still to come. Again: no effect.
  void release(const model::AttemptId& attempt);
  /// The attempt has ended: its host can send its output.
  void expect_output(const model::AttemptId& attempt, Mono now);
  /// The host is connected again, and can send all that is still to come.
  void expect_output(Mono now);
  /// It is not connected: its own deadline counts.
  void stop_expecting_output();
  /// No effect on an attempt that has not ended.
  void output_came(const model::OutputProgress& progress, Mono now);
  /// Nothing more is expected of the attempt, or the claim has ended. False: it is not here.
  bool remove(const model::AttemptId& attempt);
  bool remove(const model::WorkId& claim);
  /// The host reports this attempt in this phase, and nothing is done to it. Again: the phase is
  /// the new one.
  void leave_alone(const model::AttemptId& attempt, model::AttemptPhase phase);
  /// The host reports that this attempt runs, and it is told to end it.
  void await_end(const model::AttemptId& attempt) { ending_.insert(attempt); }
  /// The attempt has ended, or is left alone no more. False: it was neither left alone nor ending.
  bool forget_unplaced(const model::AttemptId& attempt);
  /// The host reports anew what is there.
  void forget_unplaced();
  /// Which cards the host says its attempts have, placed here or not; replaces what it said before.
  void report_attempts(const std::vector<model::AttemptReport>& attempts);
  /// See HostCards::take().
  std::vector<CardNews> report_cards(const model::CardReport& report, Mono now) {
    return cards_.take(report, now);
  }
  /// The host has so many bytes of scratch and RAM; unset: it does not say, as before.
  void report_room(std::optional<std::int64_t> scratch, std::optional<std::int64_t> ram);

  /// Null if it is not here; valid until the next change.
  [[nodiscard]] const PlacedAttempt* find(const model::AttemptId& attempt) const;
  [[nodiscard]] const std::vector<PlacedAttempt>& attempts() const { return attempts_; }
  [[nodiscard]] const std::vector<Claim>& claims() const { return claims_; }
  using LeftAlone = std::map<model::AttemptId, model::AttemptPhase>;
  [[nodiscard]] const LeftAlone& left_alone() const { return left_alone_; }
  /// Those that are left alone, which are not any more.
  [[nodiscard]] LeftAlone take_left_alone() { return std::exchange(left_alone_, {}); }
  /// Attempts that are not placed here run here: how much room they take is not known.
  [[nodiscard]] bool runs_unplaced() const;
  /// What the host has last reported; unset: nothing.
  [[nodiscard]] const std::optional<std::int64_t>& reported_scratch() const { return scratch_; }
  [[nodiscard]] const std::optional<std::int64_t>& reported_ram() const { return ram_; }
  /// What work may use of a host of this type: it may have less scratch, RAM and cards, never more,
  /// and what is in use was there. Its cards are those in use and those of free_groups().
  [[nodiscard]] model::Resources room_of(const model::InstanceType& type) const;
  [[nodiscard]] const HostCards& cards() const { return cards_; }
  /// The cards that the host says this attempt has.
  [[nodiscard]] std::vector<std::string> reported_cards(const model::AttemptId& attempt) const;
  /// Who has each card that is not free, also one that the host does not list; empty: nobody of
  /// whom it is known has one. O(attempts + cards).
  [[nodiscard]] std::map<std::string, model::AttemptId> holders() const;
  /// What is free of the cards of a host of this type. Unless it has told which cards it has, that
  /// is of the menu; while it is not known who has which, nothing.
  [[nodiscard]] model::GpuGroups free_groups(const model::InstanceType& type) const;
  /// The cards for an attempt that needs so many: all of one group, the lowest indices. Empty: it
  /// needs none, or the host has not told which cards it has. Unset: they do not suffice.
  [[nodiscard]] std::optional<std::vector<std::string>> choose_cards(
      const model::InstanceType& type, std::int32_t count, const model::GpuWish& wish) const;
  /// Of active attempts and of claims.
  [[nodiscard]] const model::Resources& used() const { return used_; }
  /// Attempts that are starting or running.
  [[nodiscard]] std::uint32_t active_attempts() const { return active_; }
  /// More output is to be collected than a host may have when it gets new work.
  [[nodiscard]] bool output_waits() const;
  /// When the first output is overdue that the host can send; kNever: there is none.
  [[nodiscard]] Mono output_due() const;
  /// Attempts whose host has sent nothing of their output for kOutputPatience.
  [[nodiscard]] std::vector<model::AttemptId> overdue_output(Mono now) const;
  /// All of the host is claimed: it runs no attempt.
  [[nodiscard]] bool is_lent() const;
  /// An attempt is active or left alone, or a claim stands.
  [[nodiscard]] bool in_use() const {
    return active_ > 0 || !claims_.empty() || !left_alone_.empty();
  }
  /// Nothing is here, not even output that is still to come.
  [[nodiscard]] bool empty() const {
    return attempts_.empty() && claims_.empty() && left_alone_.empty();
  }

 private:
  std::vector<PlacedAttempt> attempts_;
  std::vector<Claim> claims_;
  LeftAlone left_alone_;
  std::set<model::AttemptId> ending_;
  model::Resources used_;
  std::uint32_t active_ = 0;
  std::optional<std::int64_t> scratch_, ram_;
  HostCards cards_;
  std::map<model::AttemptId, std::vector<std::string>> reported_;  ///< Cards, as the host says.
};

}  // namespace hostler::fleet
