#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/model/host.h"
#include "tests/sim/cards.h"
#include "tests/sim/cloud.h"
#include "tests/sim/commands.h"
#include "tests/sim/host_lies.h"

namespace hostler::sim {

/// The daemon's links, and the agents to which they connect. Links end with the daemon, agents do
/// not.
class Hosts {
 public:
  using Post = std::function<void(model::HostEvent)>;

  /// `seed`: of the lies, which are apart from all other choices.
  Hosts(Timeline& time, Chance& chance, const Day& day, const Disk& disk, Cloud& cloud,
        Commands& commands, std::uint64_t seed, Disk::Complain complain)
      : time_(time),
        chance_(chance),
        day_(day),
        disk_(disk),
        cloud_(cloud),
        commands_(commands),
        complain_(std::move(complain)),
        lies_(seed),
        cards_(seed, complain_),
        short_disks_(has_short_disks(seed)),
        short_ram_(has_short_ram(seed)),
        few_uses_(has_few_uses(seed)),
        late_output_(has_late_output(seed)) {}

  /// A daemon starts; the links of the previous daemon are gone.
  void restart(Post post);
  void take(const model::HostCommand& command);
  /// An old copy of the disk was put back: what runs now may be unknown to it.
  void put_back();
  /// A connection breaks.
  void misfortune();
  /// Something happens to the cards of a machine, and its agent reads them.
  void misfortune_of_cards();
  [[nodiscard]] const CardTally& cards() const { return cards_.tally(); }
  /// Half of the machines, or all, cannot be reached for this time; work on them goes on.
  void partition(Duration time);
  /// The check on the machine has printed something else.
  void print_notice(Machine& machine, model::HostInterruption notice) {
    agent_says(machine, std::move(notice));
  }
  /// Holders log in: links also say that they do not replace a key.
  void lend_logins() { lends_logins_ = true; }
  /// One host in three lies, as long as there are faults.
  void let_them_lie() { lies_.begin(); }
  /// An admin gives up the hosts that cannot be reached.
  void give_up() { held_.clear(); }
  /// Half of the connected hosts, three or more, cannot be reached, and this is one of them, and it
  /// runs: it may not be destroyed for that.
  [[nodiscard]] bool is_held(model::InstanceId id) const;
  /// A host of the type has reported so much RAM.
  [[nodiscard]] bool has_reported(const std::string& type, std::int64_t least,
                                  std::int64_t most) const {
    const auto found = ram_reports_.lower_bound({type, least});
    return found != ram_reports_.end() && found->first == type && found->second <= most;
  }
  /// How many attempts of the job have started.
  [[nodiscard]] int starts(model::WorkId job) const;

 private:
  struct Link {
    model::HostTarget target;
    bool up = false, was_proved = false;
    bool is_doubted = false;       ///< It has reported a number that cannot be.
    bool told_of_failure = false;  ///< That an attempt to connect failed.
    std::uint64_t connection = 0;
    std::uint64_t tries = 0;  ///< A new target makes older attempts to connect invalid.
    Mono last_said, last_sent;
    std::uint64_t proposal = 0;  ///< The last one; 0: none stands on this connection.
    Mono proposed_at;
    std::uint64_t proposals = 0;
    bool resumed = false;            ///< The kernel has answered HostReady.
    std::set<model::AttemptId> own;  ///< Started or resumed on this connection.
    std::vector<model::HostEventBody> held;
    std::map<model::AttemptId, std::pair<Wall, Wall>> notices;  ///< Told on this connection.
  };
  using LinkPtr = std::shared_ptr<Link>;
  struct Start {
    int times = 0;
    const Machine* machine = nullptr;  ///< The machine of the last start.
  };

  void on(const model::ConnectHost& command);
  void on(const model::DisconnectHost& command);
  void on(const model::ResumeAttempts& command);
  void on(const model::StartAttempt& command);
  void on(const model::KillAttempt& command);
  void on(const model::InterruptAttempt& command);
  void on(const model::AckAttempt& command);
  void on(const model::ActivateRotation& command);
  void on(const model::RunCommand& command);

  void try_connect(const LinkPtr& link, std::uint64_t tries);
  void come_up(const LinkPtr& link, Machine& machine);
  void propose_command(const LinkPtr& link);
  /// Whether the command may run now, as far as the link knows.
  [[nodiscard]] bool takes(const Link& link, const model::RunCommand& command) const;
  void drop(const LinkPtr& link);
  /// Notices a peer that has gone without closing the connection.
  void keep_alive(const LinkPtr& link, std::uint64_t connection);
  /// Sends an event from the link to the loop, in order.
  void say(const LinkPtr& link, model::HostEventBody body);
  /// Handles a message of the agent; messages before the resume wait.
  void hear(const LinkPtr& link, model::HostEventBody body);
  /// When a message that is sent now on this connection arrives, if the connection lasts.
  Mono arrival(Link& link, const Machine& machine);
  /// Sends a message of the agent on this connection; lost if the connection breaks before it
  /// arrives.
  void agent_says(Machine& machine, model::HostEventBody body);
  /// Sends a message to the agent, in order, on the present connection.
  void to_agent(const LinkPtr& link, std::function<void(Machine&)> act);
  void start(Machine& machine, const model::StartAttempt& command);
  /// The agent reads its cards until a reading is good.
  void read_cards(Machine& machine);
  /// The daemon gets this event of the link.
  void told_of_cards(const Link& link, const model::HostEventBody& body);
  void check_uses(const Machine& machine);
  void check_ram(const Machine& machine, std::int64_t menu) const;
  void check_start(const Machine& machine, model::AttemptId attempt, const Run& run);
  void finish(Machine& machine, model::AttemptId attempt, model::AttemptEnd end);
  void tell_end(Machine& machine, model::AttemptId attempt);
  /// The output of an attempt has come.
  void tell_collected(Machine& machine, model::AttemptId attempt, Duration after);
  /// Unset: the host never sends it. Tells that it waits, if it does.
  std::optional<Duration> output_is_late(Machine& machine, model::AttemptId attempt);
  /// After the end of an attempt: its start, and another end.
  void tell_lies(Machine& machine, model::AttemptId attempt);
  void tell_about_others(Machine& machine, std::uint64_t connection);
  /// An attempt on another machine.
  [[nodiscard]] std::optional<model::AttemptId> foreign_to(const Machine& machine);
  [[nodiscard]] bool lies(const Machine& machine) const {
    return chance_.faults() && lies_.is_liar(machine);
  }
  /// Bounds the numbers of a report, as links do. False: there is nothing left of it.
  bool bound_report(const LinkPtr& link, model::HostEventBody& body);
  LinkPtr find(model::InstanceId id);
  [[nodiscard]] bool is_cut_off(const Machine& machine) const;

  Timeline& time_;
  Chance& chance_;
  const Day& day_;
  const Disk& disk_;
  Cloud& cloud_;
  Commands& commands_;
  Disk::Complain complain_;
  HostLies lies_;
  Cards cards_;
  bool short_disks_, short_ram_, few_uses_, late_output_;
  std::set<std::pair<std::string, std::int64_t>> ram_reports_;  ///< Of types.
  Post post_;
  std::uint64_t generation_ = 0;
  Mono partition_until_{};
  bool all_cut_off_ = false, lends_logins_ = false;
  struct Held {
    std::string address;
    std::optional<Mono> left;  ///< When it was ended or switched off.
  };
  std::map<model::InstanceId, Held> held_;  ///< Those of the present partition.
  std::map<model::InstanceId, LinkPtr> links_;
  std::map<model::InstanceId, std::uint64_t> connections_;
  std::set<model::AttemptId> spared_;  ///< They ran when a disk was put back: they are not ended.
  std::map<std::string, std::int32_t> uses_;  ///< Starts by machine, since the beginning.
  std::map<model::AttemptId, Start> starts_;  ///< All starts since the beginning.
};

}  // namespace hostler::sim
