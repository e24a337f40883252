#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/dispatch/state/call_gates.h"
#include "core/dispatch/state/sets.h"

namespace hostler::dispatch {

/// Questions that sets are asked again and again: which images a query finds, which types are
/// offered, which leftovers there are, what types cost. Each is asked when it is due, once at a
/// time and as its gate allows; after bad answers it is asked after longer and longer pauses, and
/// not before the time that the cloud has named. Only the answer to the newest call counts. What an
/// answer means, its handler knows.
///
/// A new question needs a CloudOp, an effect and an event with a number, and a handler that calls
/// keep() for each policy, due() at each tick, and take() for each answer.
class Questions {
 public:
  struct Name {
    std::uint32_t set = 0;  ///< Index into SitePolicy::sets.
    model::CloudOp op{};
    std::string about = {};  ///< Empty: the whole set.
    friend auto operator<=>(const Name&, const Name&) = default;
  };
  struct Rhythm {
    Duration every;        ///< The pause after a good answer, and the longest one.
    Duration retry_first;  ///< After one bad answer; twice as long after each further one.
  };
  struct Call {
    std::string about;
    std::uint64_t number = 0;  ///< Comes back with the answer.
  };
  struct Due {
    std::vector<Call> calls;  ///< To be made now.
    std::string held_back;    ///< The message of the gate that holds back others; empty: none.
  };

  /// The others outlive it.
  Questions(const Sets& sets, CallGates& gates) : sets_(sets), gates_(gates) {}

  /// From now on the set is asked exactly these questions by calls of `op`. A new one is due at
  /// once, each other one in an interval at the latest, or when the cloud wants to be asked. The
  /// answer to one that is gone is ignored.
  void keep(std::uint32_t set, model::CloudOp op, const std::vector<std::string>& about,
            Rhythm rhythm, Now now);
  /// The calls of `op` that are to be made now. None while the set is not open, or if its driver
  /// says that it cannot answer.
  [[nodiscard]] Due due(std::uint32_t set, model::CloudOp op, Now now);
  /// The answer to a call has come; its gate is told. Returns when the call was made; unset: the
  /// answer is to be ignored, because the call is not the newest one, or was perhaps of another
  /// account.
  [[nodiscard]] std::optional<Mono> take(const Name& name, std::uint64_t number,
                                         const model::CloudError* error, Now now);
  /// The answer that was taken is good. `pause`: until it is asked again, if that is to be sooner.
  void good(const Name& name, Now now, std::optional<Duration> pause = {});
  /// The answer that was taken is bad. True: the one before was good, or there was none.
  bool bad(const Name& name, model::CloudErrorClass cls, Now now);
  /// The question is asked now, or when the cloud wants to be asked.
  void ask_now(const Name& name, Now now);
  /// The set has another driver or account: all its questions are asked now, and answers that are
  /// still to come are ignored.
  void ask_again(std::uint32_t set, Now now);
  /// The gate has opened: the questions that it held back are asked now.
  void ask_held_back(std::uint32_t set, const model::GateRecord& gate, Now now);

  [[nodiscard]] Mono next_wake() const;
  struct Status {
    Name name;
    const char* what = "";      ///< The word for its calls.
    Mono next = fleet::kNever;  ///< kNever: it is asked now, or cannot be.
    std::optional<Mono> sent;   ///< When the call under way was made; unset: none is.
  };
  [[nodiscard]] std::vector<Status> all() const;

 private:
  struct Question {
    Rhythm rhythm{};
    Mono next{};
    Mono not_before{};                       ///< The cloud asked for it (retry_after).
    std::optional<std::uint64_t> under_way;  ///< The number of the call.
    Mono sent{};                             ///< The last call.
    std::uint32_t failures = 0;              ///< Bad answers in a row.
  };
  [[nodiscard]] static Mono due_at(const Question& question) {
    return std::max(question.next, question.not_before);
  }
  [[nodiscard]] Mono next_of(const Name& name, const Question& question) const;
  [[nodiscard]] bool can_be_asked(std::uint32_t set, model::CloudOp op) const;

  const Sets& sets_;
  CallGates& gates_;
  std::map<Name, Question> all_;
  std::uint64_t calls_ = 0;
};

}  // namespace hostler::dispatch
