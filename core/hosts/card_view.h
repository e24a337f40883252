#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/agent/protocol.h"
#include "core/base/error.h"
#include "core/model/card.h"

namespace hostler::hosts {

/// The cards of a host, as one conversation hears of them: makes reports of what the agent tells,
/// and gives starts the cards that the loop has chosen. A reading that fails changes nothing of
/// what is known. No I/O.
class CardView {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  /// A Configure was sent: the agent may tell once more.
  void expect() { ++expected_; }
  /// False: the agent tells more often than one that reads once a minute does. What a host says
  /// must not fill the ledger.
  [[nodiscard]] bool admit(Moment now);

  /// True if the report is news: another one, or one more reading that has failed.
  bool learn(const agent::Cards& cards);
  /// The agent has told nothing within this time.
  void learn_nothing(Duration patience);
  [[nodiscard]] const model::CardReport& report() const { return report_; }

  /// The device files of all cards, if the agent has not been told them yet.
  std::optional<agent::Guard> take_guard();
  /// Gives the start its cards, their files, and the variables that name them. An error
  /// (kNotFound): one of them is not known; then the start is unchanged.
  [[nodiscard]] Result<void> equip(agent::Start& start,
                                   const std::vector<std::string>& uuids) const;

 private:
  model::CardReport report_;
  /// Of the last good reading. It stays where a tool is not there any more.
  std::optional<std::vector<model::Card>> known_;
  std::optional<agent::Guard> guard_;  ///< What the agent was told.
  std::optional<Moment> first_;        ///< When it told first.
  std::int64_t expected_ = 0, told_ = 0;
};

}  // namespace hostler::hosts
