#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/text.h"
#include "core/json/reader.h"
#include "core/model/ids.h"
#include "core/model/offering.h"
#include "core/scheduler/snapshot.h"

/// The words of snapshots and answers, for reading and writing. Private to core/planning.
namespace hostler::planning {

inline constexpr std::array kMarkets{
    json::Word<model::Market>{"on_demand", model::Market::kOnDemand},
    json::Word<model::Market>{"spot", model::Market::kSpot},
};
inline constexpr std::array kKinds{
    json::Word<model::WorkKind>{"job", model::WorkKind::kJob},
    json::Word<model::WorkKind>{"lease", model::WorkKind::kLease},
    json::Word<model::WorkKind>{"reservation", model::WorkKind::kReservation},
    json::Word<model::WorkKind>{"task", model::WorkKind::kTask},
};
inline constexpr std::array kPhases{
    json::Word<scheduler::HostPhase>{"coming", scheduler::HostPhase::kComing},
    json::Word<scheduler::HostPhase>{"ready", scheduler::HostPhase::kReady},
    json::Word<scheduler::HostPhase>{"stopped", scheduler::HostPhase::kStopped},
    json::Word<scheduler::HostPhase>{"lingering", scheduler::HostPhase::kLingering},
    json::Word<scheduler::HostPhase>{"leaving", scheduler::HostPhase::kLeaving},
};
/// Of a host that drains; no word for kNone.
inline constexpr std::array kDrainPhases{
    json::Word<scheduler::DrainPhase>{"under_way", scheduler::DrainPhase::kUnderWay},
    json::Word<scheduler::DrainPhase>{"over", scheduler::DrainPhase::kOver},
};
/// The word for the state of an agent on a host; kNone has none.
inline constexpr std::array kAgentStates{
    json::Word<scheduler::AgentState>{"coming", scheduler::AgentState::kComing},
    json::Word<scheduler::AgentState>{"idle", scheduler::AgentState::kIdle},
    json::Word<scheduler::AgentState>{"busy", scheduler::AgentState::kBusy},
    json::Word<scheduler::AgentState>{"lost", scheduler::AgentState::kLost},
};

inline constexpr std::array kBoundWords{
    json::Word<scheduler::BoundOf>{"started_min", scheduler::BoundOf::kStartedMin},
    json::Word<scheduler::BoundOf>{"started_max", scheduler::BoundOf::kStartedMax},
    json::Word<scheduler::BoundOf>{"created_min", scheduler::BoundOf::kCreatedMin},
    json::Word<scheduler::BoundOf>{"created_max", scheduler::BoundOf::kCreatedMax},
    json::Word<scheduler::BoundOf>{"standby", scheduler::BoundOf::kStandby},
    json::Word<scheduler::BoundOf>{"stopped", scheduler::BoundOf::kStopped},
};

template <class E, std::size_t N>
std::string_view word_of(E value, const std::array<json::Word<E>, N>& words) {
  for (const auto& word : words)
    if (word.value == value) return word.text;
  return {};
}

/// A flag of a host or an offering: false if the snapshot does not name it, but takes_work and
/// can_stop of a host.
template <class T>
struct Flag {
  std::string_view key;
  bool T::*member;
};
inline constexpr std::array kHostFlags{
    Flag<scheduler::HostView>{"takes_work", &scheduler::HostView::takes_work},
    Flag<scheduler::HostView>{"busy", &scheduler::HostView::busy},
    Flag<scheduler::HostView>{"kept", &scheduler::HostView::kept},
    Flag<scheduler::HostView>{"draining", &scheduler::HostView::draining},
    Flag<scheduler::HostView>{"cordoned", &scheduler::HostView::cordoned},
    Flag<scheduler::HostView>{"adopted", &scheduler::HostView::adopted},
    Flag<scheduler::HostView>{"can_stop", &scheduler::HostView::can_stop},
    Flag<scheduler::HostView>{"power_unknown", &scheduler::HostView::power_unknown},
    Flag<scheduler::HostView>{"can_wake", &scheduler::HostView::can_wake},
    Flag<scheduler::HostView>{"unfulfilled_spot", &scheduler::HostView::unfulfilled_spot},
    Flag<scheduler::HostView>{"unseen", &scheduler::HostView::unseen},
    Flag<scheduler::HostView>{"work_cancelled", &scheduler::HostView::work_cancelled},
    Flag<scheduler::HostView>{"for_exchange", &scheduler::HostView::for_exchange},
    Flag<scheduler::HostView>{"ends", &scheduler::HostView::ends},
    Flag<scheduler::HostView>{"was_listed", &scheduler::HostView::was_listed},
    Flag<scheduler::HostView>{"going", &scheduler::HostView::is_going},
    Flag<scheduler::HostView>{"acknowledged", &scheduler::HostView::acknowledged},
};
inline constexpr std::array kOfferingFlags{
    Flag<scheduler::Offering>{"at_quota", &scheduler::Offering::at_quota},
    Flag<scheduler::Offering>{"awaits_price", &scheduler::Offering::awaits_price},
    Flag<scheduler::Offering>{"unavailable", &scheduler::Offering::unavailable},
    Flag<scheduler::Offering>{"can_stop", &scheduler::Offering::can_stop},
};

/// A number below a ceiling: no ceiling if the snapshot does not name it.
struct Room {
  std::string_view key;
  std::optional<std::int64_t> gates::Headroom::*member;
};
inline constexpr std::array kRooms{
    Room{"instances", &gates::Headroom::instances},
    Room{"creates", &gates::Headroom::creates},
    Room{"destroys", &gates::Headroom::destroys},
};

/// "c-7": a class of equal work.
inline std::string text_of(demand::ClassId cls) { return "c-" + std::to_string(cls); }
inline std::optional<demand::ClassId> parse_class(std::string_view text) {
  if (!text.starts_with("c-") || text.size() > 21) return std::nullopt;
  return parse_u64(text.substr(2));
}

}  // namespace hostler::planning
