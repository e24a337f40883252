#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/daemon/service/service.h"

/// The request for reasons: why a job waits, why an instance or a gate is in its state.
namespace hostler::daemon {
namespace {

template <class Named>
std::optional<Named> named(std::vector<Named> all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &Named::name);
  if (found == all.end()) return std::nullopt;
  return std::move(*found);
}

/// `host`: the one that the job is on; 0: none.
void add_job(api::WhyView& view, const dispatch::Queries& state, model::WorkId id,
             model::InstanceId host, Now now) {
  view.waiting = state.waiting(id);
  using model::WaitingCode;
  if (!view.waiting || view.waiting->code == WaitingCode::kOutput ||
      view.waiting->code == WaitingCode::kDiskFull) {
    view.instance = state.instance(host, now);
    return;
  }
  view.turn = state.turn(id, now.mono);
  view.reasons.rejected = state.rejected(id);
  view.gates = state.gates(now.mono);
}

bool add_pool(api::WhyView& view, const dispatch::Queries& state, std::string_view name, Now now) {
  auto reasons = state.reasons_of_pool(std::string(name), now);
  if (!reasons) return false;
  view.pool = named(state.pools(), name);
  view.records = std::move(reasons->decisions);
  view.reasons = std::move(*reasons);
  view.gates = state.gates(now.mono);
  const auto& pools = state.policy().pools;
  const auto& sets = std::ranges::find(pools, name, &model::PoolPolicy::name)->sets;
  std::erase_if(view.gates,
                [&](const auto& gate) { return std::ranges::find(sets, gate.set) == sets.end(); });
  return true;
}

bool add_set(api::WhyView& view, const dispatch::Queries& state, const DriverOf& driver,
             std::string_view name, Now now) {
  view.set = named(sets_with_drivers(state, driver, now), name);
  view.gates = state.gates(now.mono);
  std::erase_if(view.gates, [&](const auto& gate) { return gate.set != name; });
  return view.set.has_value();
}

/// What is wrong with pools: also those that choose types by their properties and find none.
void add_pools(api::WhyView& view, const dispatch::Queries& state) {
  for (const auto& pool : state.pools()) {
    if (pool.selection && pool.selection->selected == 0)
      view.conditions.push_back("pool " + pool.name + ": " + pool.selection->text);
    for (const auto& text : pool.conditions)
      view.conditions.push_back("pool " + pool.name + ": " + text);
  }
}

/// Of a gate that is open again only the records are known.
bool add_gate(api::WhyView& view, const dispatch::Queries& state, std::string_view key, Mono now) {
  if (auto reasons = state.reasons_of_gate(std::string(key), now))
    view.reasons = std::move(*reasons);
  view.gates = state.gates(now);
  std::erase_if(view.gates, [&](const auto& gate) { return gate.key != key; });
  return !view.gates.empty();
}

/// Adds what the loop knows of the subject. An error if there is and was no such subject.
Result<void> add_state(api::WhyView& view, const dispatch::Queries& state, const DriverOf& driver,
                       model::InstanceId host, Now now) {
  const std::string_view subject = view.subject;
  const std::size_t space = std::min(subject.find(' '), subject.size());
  const std::string_view kind = subject.substr(0, space);
  const std::string_view name = subject.substr(std::min(space + 1, subject.size()));
  bool known = !view.records.empty();
  if (const auto job = model::WorkId::parse(subject)) {
    add_job(view, state, *job, host, now);  // It exists: readable_work() found it in the store.
    known = true;
  } else if (const auto instance = model::InstanceId::parse(subject)) {
    view.instance = state.instance(*instance, now);
    known = known || view.instance;
  } else if (kind == "pool") {
    known = add_pool(view, state, name, now) || known;
  } else if (kind == "set") {
    known = add_set(view, state, driver, name, now) || known;
  } else if (kind == "gate") {
    known = add_gate(view, state, name, now.mono) || known;
  } else if (subject == "site") {
    view.gates = state.gates(now.mono);
    for (const auto& set : sets_with_drivers(state, driver, now))
      for (const auto& text : set.conditions)
        view.conditions.push_back("set " + set.name + ": " + text);
    add_pools(view, state);
    known = true;
  } else if (!known) {
    return fail(Errc::kInvalidArgument,
                "'" + printable(subject, 60) +
                    "' is no subject with reasons: ask about a job (j-42), a lease (l-3), an "
                    "instance (h-7), 'pool NAME', 'set NAME', 'gate KEY' or 'site'");
  }
  if (known) return {};
  return fail(Errc::kNotFound, "there is no " + (kind == "gate" ? "shut " : std::string()) +
                                   (space < subject.size() ? "" : "instance ") +
                                   printable(subject, 60));
}

}  // namespace

std::vector<std::string> DaemonService::site_conditions() const {
  auto out = uses_.reload->problems();
  if (const auto old = uses_.store->old_state(); !old.empty())
    out.push_back("the state is old: " + old +
                  "; it is only shown until hostlerd is started with --restored");
  return out;
}

void DaemonService::why(const api::Principal& who, const std::string& subject,
                        api::Answer<api::WhyView> answer) {
  model::InstanceId host;
  std::optional<Wall> until;
  if (const auto id = model::WorkId::parse(subject)) {
    const auto work = readable_work(who, *id);
    if (!work) return answer(tl::unexpected(work.error()));
    if (!model::is_terminal(work->record.state)) host = work->record.instance;
    if (id->kind == model::WorkKind::kLease && work->record.state == model::WorkState::kRunning) {
      const auto terms = uses_.store->reads().lease_terms({*id});
      if (!terms) return answer(tl::unexpected(terms.error()));
      if (!terms->empty()) until = terms->begin()->second.until;  // Else its own row is damaged.
    }
  }
  auto records = uses_.store->reads().ledger_of(subject, 0, 200, true);
  if (!records) return answer(tl::unexpected(records.error()));
  api::WhyView view;
  view.subject = subject;
  view.until = until;
  view.records.assign(std::make_move_iterator(records->items.rbegin()),
                      std::make_move_iterator(records->items.rend()));
  if (const auto hidden = hide_reasons(who, view.records); !hidden)
    return answer(tl::unexpected(hidden.error()));
  if (subject == "site") view.conditions = site_conditions();
  uses_.loop->query([view = std::move(view), driver = uses_.driver, host,
                     answer = std::move(answer)](const dispatch::Queries& state, Now now) mutable {
    if (const auto known = add_state(view, state, driver, host, now); !known)
      return answer(tl::unexpected(known.error()));
    answer(std::move(view));
  });
}

}  // namespace hostler::daemon
