#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/base/random.h"
#include "core/model/host.h"
#include "core/model/records.h"
#include "core/simulation/timeline.h"

namespace hostler::sim {

using simulation::Timeline;

/// Commands that run on hosts, on one day in four: their links propose some, and report their ends
/// soon, late, twice or never. Checks that each is sent once, after its start is durable, gets one
/// end in the ledger, and does not begin after that has said that no answer comes.
class Commands {
 public:
  using Complain = std::function<void(const std::string&)>;
  /// Tells the loop of the host, while its link lives.
  using Say = std::function<void(model::HostEventBody)>;

  /// `seed`: of its choices, which are apart from all others.
  Commands(std::uint64_t seed, Timeline& time, Complain complain)
      : time_(time),
        complain_(std::move(complain)),
        random_(seed ^ 0xc0ffee),
        exist_(random_.chance(0.25)) {}

  /// Those that are for accounts of holders mostly succeed, and `ran` is told which have.
  void set_accounts(std::function<void(const model::RunCommand&)> ran) { ran_ = std::move(ran); }
  /// A daemon starts, which knows of no command.
  void restart() { started_.clear(), begun_.clear(), given_up_.clear(), sent_.clear(); }
  void committed(const std::vector<model::Change>& changes);
  /// A command that a link proposes now; none: it needs none.
  [[nodiscard]] std::optional<model::CommandProposed> proposal();
  /// `takes_it`: the link has not told that it is too late.
  void run(const model::RunCommand& command, bool takes_it, bool faults, const Say& say);
  /// Each has ended in time.
  void check();

 private:
  /// The status of one that runs on its host; an account's is there from then on, answered or not.
  int status_of(const model::RunCommand& command);

  using Key = std::pair<std::string, std::string>;  ///< The host and the number.

  Timeline& time_;
  Complain complain_;
  Random random_;
  const bool exist_;
  struct Started {
    Mono at;
    Duration limit{};
  };
  std::map<Key, Started> started_;  ///< Without an end.
  std::set<Key> begun_;             ///< Their starts are durable, and so may be their ends.
  std::set<Key> given_up_;          ///< Of their hosts or connections no answer comes any more.
  std::set<Key> sent_;
  std::function<void(const model::RunCommand&)> ran_;
};

}  // namespace hostler::sim
