#pragma once

#include <cstdint>

#include "core/base/time.h"

namespace hostler::fleet {

/// A cloud may execute a create after it was given up, but hardly later than this.
inline constexpr Duration kCreateMayLag = std::chrono::minutes(10);
/// A create is sent so often at most.
inline constexpr std::uint32_t kCreateTriesMax = 6;

/// The create of an instance. It is never refused and of unknown outcome at once: what may have
/// been executed once is not undone by a refusal. A restart forgets it: then the outcome of a
/// create that has no answer yet is unknown.
class Creating {
 public:
  /// The create was decided then, or the instance, whose creation no journal knows, adopted.
  void decided(Mono at) { decided_ = at; }
  void sent() {
    if (answer_ == Answer::kRefused) answer_ = Answer::kOpen;
  }
  /// An answer has come, of whatever kind.
  void answered() { ++tries_; }
  /// No answer says whether the create was executed, or executed to its end.
  void outcome_lost() { answer_ = Answer::kUnknown; }
  /// The cloud has answered, or shows the instance: it was executed.
  void outcome_known() {
    if (answer_ == Answer::kUnknown) answer_ = Answer::kOpen;
  }
  /// The cloud has refused it, as it has refused all before. Unknown stays unknown.
  void refused() {
    if (answer_ == Answer::kOpen) answer_ = Answer::kRefused;
  }
  /// A create that was cut off is not finished before.
  void wait_until(Mono time) { again_at_ = time; }

  [[nodiscard]] Mono decided_at() const { return decided_; }
  [[nodiscard]] bool is_outcome_unknown() const { return answer_ == Answer::kUnknown; }
  /// All its creates were refused, and none is under way: it cannot exist.
  [[nodiscard]] bool is_refused() const { return answer_ == Answer::kRefused; }
  [[nodiscard]] std::uint32_t tries() const { return tries_; }
  /// It may be sent once more.
  [[nodiscard]] bool may_try_again() const { return tries_ < kCreateTriesMax; }
  /// Another create may finish one that was cut off.
  [[nodiscard]] bool may_finish(Mono now) const { return may_try_again() && now >= again_at_; }

 private:
  enum class Answer : std::uint8_t {
    kOpen,  ///< A call is under way, or it was executed.
    kUnknown,
    kRefused,
  };

  Mono decided_;
  Answer answer_ = Answer::kOpen;
  std::uint32_t tries_ = 0;
  Mono again_at_;
};

}  // namespace hostler::fleet
