#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "core/base/time.h"
#include "core/model/push.h"

namespace hostler::sim {

/// Who may push for one pool, as docs/pushed.md says it: from pushes and answers alone, not from
/// what the daemon keeps.
class PushTurns {
 public:
  /// Who has pushed last, and for whom it has taken over.
  struct Session {
    std::string principal, name;
    std::deque<std::string> superseded;  ///< The last first.
  };
  explicit PushTurns(Duration max_age) : max_age_(max_age) {}

  void daemon_started(Mono now);
  /// An older state was put back: nothing is certain any more.
  void put_back();
  /// Unset: nobody can say.
  [[nodiscard]] std::optional<bool> takes(const std::string& principal, const model::Push& push,
                                          Mono now) const;
  /// It was taken. True: by a session that is new.
  bool taken(const std::string& principal, const model::Push& push, Mono now);
  [[nodiscard]] const Session& session() const { return session_; }
  /// An answer has left while this was so: it holds over restarts.
  void told(const Session& session) { durable_ = session; }
  /// The sequence of the last push of session().
  [[nodiscard]] std::uint64_t sequence() const { return sequence_.value_or(0); }

 private:
  const Duration max_age_;
  Session session_, durable_;
  std::optional<std::uint64_t> sequence_;
  Mono term_ends_ = Mono::min();
  bool is_certain_ = true;
};

}  // namespace hostler::sim
