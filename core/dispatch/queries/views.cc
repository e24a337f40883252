#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/dispatch/queries.h"
#include "core/dispatch/queries/cards.h"
#include "core/dispatch/queries/conditions.h"
#include "core/dispatch/queries/pool_views.h"
#include "core/dispatch/state/live_work.h"
#include "core/dispatch/state/state.h"

/// The state as it is shown: jobs, instances, pools, sets, gates, totals.
namespace hostler::dispatch {
namespace {

constexpr const char* kReleases =
    ": it is held until an admin releases it ('hostler release') or cancels it";

model::InstanceView view_of(const Host& host, const model::SitePolicy& policy) {
  const auto& instance = host.instance;
  model::InstanceView out;
  out.record = instance.record;
  if (!instance.may_exist()) out.record.price_per_hour = {};
  out.record.identity = {};  // Secrets are for links only.
  out.record.identity.public_key = instance.record.identity.public_key;
  out.record.identity.verified_by = instance.record.identity.verified_by;
  out.record.identity.rotation = instance.record.identity.rotation;
  if (instance.type) out.total = instance.occupancy.room_of(policy.types[*instance.type]);
  out.used = instance.occupancy.used();
  for (const auto& placed : instance.occupancy.attempts()) out.attempts.push_back(placed.attempt);
  if (instance.occupancy.is_lent()) out.lease = instance.occupancy.claims().front().work;
  const auto cards = cards_of(instance);
  out.card_counts = count_of(cards, instance, policy);
  const auto& listed = instance.occupancy.cards();
  if (listed.are_known()) out.guard = has_files(listed) ? listed.guard() : model::CardGuard::kNone;
  out.uses_max = policy.pools[instance.pool].uses_max;
  out.key_alarm = instance.link.key_alarm();
  if (is_unlisted(instance)) out.unlisted_since = instance.listing.absence()->since;
  out.cordoned = instance.notices.is_cordoned();
  out.init_failed = instance.told.has_init_failed();
  if (host.closed != scheduler::Closed::kNo) out.closed = to_string(host.closed);
  return out;
}

model::GateRecord gate_view(const gates::Gate& gate, Mono now) {
  model::GateRecord out = gate.record;
  if (gate.record.cls == model::CloudErrorClass::kPrice) out.until = {};  // Until it is opened.
  if (gate.until > now) return out;
  const bool is_boot = gate.prober.value != 0;
  out.until = {};
  out.message = "half-open: " + (is_boot ? gate.prober.text() : "one call") +
                " is tried, and the gate opens if it " + (is_boot ? "comes up" : "succeeds") +
                "; before: " + out.message;
  return out;
}

constexpr std::size_t kThingsShown = 100, kStrangersShown = 20;

model::LeftoversView leftovers_view(model::LeftoverRule rule, const SetLeftovers& set) {
  model::LeftoversView out;
  out.rule = model::to_string(rule);
  out.found = set.things.size();
  out.destroying = set.destroying;
  out.listed = set.listed;
  out.error = set.error;
  const auto shown = [](const std::string& text) {
    return printable(text, model::kForeignNameMax);
  };
  for (const auto& [name, thing] : set.things) {
    if (thing.confirmed) ++out.confirmed;
    if (out.things.size() == kThingsShown) continue;
    out.things.push_back({.type = shown(name.type),
                          .id = shown(name.id),
                          .instance = shown(thing.instance_id),
                          .since = thing.since,
                          .confirmed = thing.confirmed,
                          .destroying = thing.destroying,
                          .error = thing.error});
  }
  return out;
}

model::ImageView image_view(const model::ImageQuery& query, const FoundImage& found) {
  model::ImageView out;
  out.query = model::to_string(query);
  out.found = found.found;
  out.error = found.error;
  if (!found.image) return out;
  out.image = *found.image;
  for (auto* text : {&out.image.id, &out.image.name, &out.image.owner, &out.image.architecture})
    *text = printable(*text, model::kForeignNameMax);
  return out;
}

std::optional<model::SetView::Strangers> strangers_view(const Strangers& of) {
  if (of.left().empty()) return std::nullopt;
  model::SetView::Strangers out;
  out.count = of.left().size();
  for (const Stranger& one : of.left().first(std::min(kStrangersShown, out.count)))
    out.ids.push_back(printable(one.seen->id, model::kForeignNameMax));
  out.doubted = of.doubted_since();
  return out;
}

/// How far the output of a job is here.
model::WaitingView output_of(const Hosts& hosts, const work::Job& job) {
  const Host* host = hosts.find(job.record->instance);
  const auto* placed = host == nullptr ? nullptr : host->instance.occupancy.find(job.attempt());
  const auto fetch = placed == nullptr ? fleet::OutputFetch{} : placed->fetch;
  const std::string part = format_size(static_cast<std::int64_t>(fetch.here)) + " of " +
                           format_size(static_cast<std::int64_t>(fetch.size));
  if (fetch.waits_for_room)
    return {model::WaitingCode::kDiskFull,
            "its output waits on " + job.record->instance.text() + ", " + part +
                " is here: the daemon's disk has no room for the rest (hostler outputs rm, or "
                "outputs give-up)",
            0};
  return {model::WaitingCode::kOutput,
          "its output is fetched" + (fetch.size == 0 ? "" : ", " + part + " is here"), 0};
}

/// Adds to each reason of the code what `text` says; asks it once at most, for it may take long.
void add_where(model::WaitingCode code, const std::function<std::string()>& text,
               std::map<model::WorkId, model::WaitingView>& waiting) {
  std::optional<std::string> said;
  for (auto& [id, view] : waiting) {
    if (view.code != code) continue;
    if (!said) said = text();
    view.reason += *said;
  }
}

}  // namespace

const model::SitePolicy& Queries::policy() const { return state_.policy; }
model::Revision Queries::revision() const { return state_.recorder.revision(); }
bool Queries::at_rest() const {
  return state_.jobs.empty() && state_.leases.empty() && state_.hosts.empty();
}
bool Queries::has_no_instances() const {
  return state_.hosts.empty() && state_.set_aside.has_no_instances() && !state_.has_orphans;
}

std::optional<LiveWork> Queries::find(model::WorkId work) const {
  return find_live(state_.jobs, state_.leases, work);
}

std::optional<model::WaitingView> Queries::waiting(model::WorkId work) const {
  auto found = waiting(std::vector{work});
  if (found.empty()) return std::nullopt;
  return std::move(found.begin()->second);
}

std::map<model::WorkId, model::WaitingView> Queries::waiting(
    const std::vector<model::WorkId>& work) const {
  std::map<model::WorkId, model::WaitingView> out;
  std::vector<model::WorkId> asked;
  std::vector<demand::Queue::Place> places;
  const auto rules = state_.limits.rules();
  std::map<demand::PrincipalId, demand::LaneCaps> caps;
  for (const model::WorkId id : work) {
    const auto live = find(id);
    if (!live || out.contains(id)) continue;
    if (live->state == model::WorkState::kHeld)
      out[id] = {model::WaitingCode::kHeld, live->record->reason_text + kReleases, 0};
    if (const work::Job* job = state_.jobs.find(id);
        job != nullptr && live->state == model::WorkState::kCollecting)
      out[id] = output_of(state_.hosts, *job);
    if (!live->queued) continue;
    const auto& place = live->place;
    asked.push_back(id);
    places.push_back({place.cls, place.arrival, place.principal});
    const auto [of, fresh] = caps.try_emplace(place.principal);
    if (fresh) of->second = state_.limits.caps_of(place.principal, rules);
    out.emplace(id, waiting(*live, of->second, rules));
  }
  add_hosts_that_come(asked, out);
  // A ceiling may be reached only because of instances that vanished, and no type may fit only
  // because a pool that chooses types finds none.
  add_where(
      model::WaitingCode::kAtCeiling, [&] { return vanished_that_count(state_); }, out);
  add_where(
      model::WaitingCode::kNoOffering, [&] { return selections_that_are_empty(); }, out);
  add_failed_starts(out);
  const auto ahead = state_.waiting.queue().ahead(places, state_.principals.shares().turn_cost());
  for (std::size_t i = 0; i < asked.size(); ++i) out[asked[i]].ahead = ahead[i];
  return out;
}

model::WaitingView Queries::waiting(const LiveWork& work, const demand::LaneCaps& caps,
                                    const demand::CapRules& rules) const {
  const auto& place = work.place;
  const auto* cap = caps.find(place.principal, place.cls);
  if (cap == nullptr) return state_.plan.waiting(place.cls);
  const auto& lane = state_.waiting.queue().lane(place.principal, place.cls);
  if (lane.count_before(place.arrival) >= cap->seen)
    return {model::WaitingCode::kQuota, state_.limits.reason(place, rules), 0};
  return state_.plan.waiting(place.cls, cap->left.has_value());
}

/// Hosts could not start the work: it waits because of that first, whatever else it waits for.
void Queries::add_failed_starts(std::map<model::WorkId, model::WaitingView>& waiting) const {
  for (auto& [id, view] : waiting) {
    const auto live = find(id);
    if (!live->queued || live->record == nullptr || live->record->refused_by.empty()) continue;
    view.reason = live->record->reason_text + "; now: " + view.reason;
  }
}

/// Says which host comes for work, and what its boot waits for now. O(hosts + asked).
void Queries::add_hosts_that_come(const std::vector<model::WorkId>& asked,
                                  std::map<model::WorkId, model::WaitingView>& waiting) const {
  std::map<demand::ClassId, const Host*> coming;
  for (const auto& [id, host] : state_.hosts.all()) {
    if (host.boot != fleet::Boot::kUnderWay) continue;
    for (const auto& load : host.made_for.load()) {
      const Host*& known = coming[load.cls];
      if (known == nullptr || known->instance.record.last_text.empty()) known = &host;
    }
  }
  for (const auto id : asked) {
    auto& view = waiting[id];
    if (view.code != model::WaitingCode::kHostComing) continue;
    const auto found = coming.find(find(id)->place.cls);
    if (found == coming.end()) continue;
    const auto& record = found->second->instance.record;
    view.reason += ": " + record.id.text() + " is " + model::to_string(record.state);
    if (!record.last_text.empty()) view.reason += ", last step: " + record.last_text;
  }
}

std::vector<model::InstanceView> Queries::instances(std::optional<Now> now) const {
  std::vector<model::InstanceView> out;
  out.reserve(state_.hosts.all().size());
  for (const auto& [id, host] : state_.hosts.all()) {
    auto& view = out.emplace_back(view_of(host, state_.policy));
    if (now) view.conditions = conditions_of(host, state_, *now);
  }
  return out;
}

std::optional<model::InstanceView> Queries::instance(model::InstanceId id, Now now) const {
  const Host* host = state_.hosts.find(id);
  if (host == nullptr) return std::nullopt;
  auto view = view_of(*host, state_.policy);
  view.cards = cards_of(host->instance);
  view.conditions = conditions_of(*host, state_, now);
  return view;
}

std::vector<scheduler::PoolNumbers> Queries::bounds() const {
  return state_.bounds.numbers(state_.policy, state_.hosts, state_.set_aside);
}

std::vector<model::PoolView> Queries::pools() const {
  std::vector<model::PoolView> out;
  const auto bounds = this->bounds();
  for (const auto& pool : state_.policy.pools) {
    model::PoolView one;
    one.name = pool.name;
    one.min = static_cast<std::int32_t>(bounds[out.size()].started.min.value);
    one.max = static_cast<std::int32_t>(bounds[out.size()].started.max.value);
    one.standby = static_cast<std::int32_t>(bounds[out.size()].standby.value);
    const auto index = static_cast<std::uint32_t>(out.size());
    const auto& [created_min, created_max] = bounds[index].created;
    one.stopped = static_cast<std::int32_t>(bounds[index].stopped.value);
    if (bounds[index].has_created) one.created_min = created_min.value;
    if (bounds[index].has_created && created_max.value < scheduler::kNoLimit)
      one.created_max = created_max.value;
    one.bounds = bounds_of(state_, index);
    one.conditions = conditions_of(state_, index);
    one.selection = selection(index);
    out.push_back(std::move(one));
  }
  for (const auto& [id, host] : state_.hosts.all()) {
    auto& pool = out[host.instance.pool];
    const model::InstanceRecord& record = host.instance.record;
    ++pool.instances[model::to_string(record.state)];
    // As bills do: an instance that is switched off costs nothing.
    if (record.state != model::InstanceState::kStopped)
      pool.price_per_hour += record.price_per_hour;
  }
  return out;
}

std::vector<model::SetView> Queries::sets(std::optional<Now> now) const {
  std::vector<model::SetView> out;
  std::vector<std::vector<std::string>> conditions;
  const auto shown = [](const std::string& text) {
    return printable(text, model::kAccountBytesMax);
  };
  if (now) conditions = conditions_of_sets(state_, *now);
  for (const Set& set : state_.sets.all()) {
    model::SetView view;
    if (now) view.conditions = std::move(conditions[out.size()]);
    view.name = set.name;
    view.open = set.is_open();
    view.foreign_owner = set.shown.foreign;
    view.problem = set.problem;
    view.list = set.omissions.list_number();
    view.missing = set.omissions.instances();
    if (now) view.held = held_state(state_, set, *now);
    for (const auto& [key, gate] : state_.gates.all()) {
      if (gate.record.set != set.name || !gate.record.crash || gate.record.failures == 0) continue;
      auto& crash = view.crashes.emplace_back(gate.record);
      if (now && gate.until <= now->mono) crash.until = {};
    }
    if (const auto& doubt = set.omissions.doubt()) {
      view.doubt = doubt->since;
      view.asking = doubt->is_asking();
    }
    view.strangers = strangers_view(set.strangers);
    if (set.reach.partition) view.partition = set.reach.partition->since;
    if (now) view.creates_refused = set.refuses_creates(now->mono);
    view.offerings = offerings(static_cast<std::uint32_t>(out.size()));
    view.account = shown(set.account.stored().account);
    view.region = shown(set.account.stored().region);
    view.jump_host = state_.policy.sets[out.size()].jump_host;
    if (const auto& reported = set.account.unaccepted())
      view.reported = {shown(reported->account_id), shown(reported->region)};
    const auto index = static_cast<std::uint32_t>(out.size());
    const auto rule = state_.policy.sets[index].leftovers;
    const SetLeftovers& leftovers = state_.leftovers.of(index);
    if (rule != model::LeftoverRule::kOff && set.info.has_leftovers)
      view.leftovers = leftovers_view(rule, leftovers);
    if (const SetWatch& watch = state_.watches.of(index); watch.supported)
      view.watch = {.stands = watch.stands && watch.number.has_value(),
                    .error = watch.error,
                    .ignored = watch.ignored};
    for (const auto& [query, found] : state_.images.of(index))
      view.images.push_back(image_view(query, found));
    out.push_back(std::move(view));
  }
  return out;
}

std::vector<model::GateRecord> Queries::gates(Mono now) const {
  std::vector<model::GateRecord> out;
  for (const auto& [key, gate] : state_.gates.all())
    if (gate.is_shut(now)) out.push_back(gate_view(gate, now));
  return out;
}

model::QuotaView Queries::quota(const std::string& principal, Mono now) const {
  return state_.quotas.view(principal, now);
}

std::vector<model::QuotaView> Queries::quotas(Mono now) const {
  const auto& known = state_.principals.names();
  std::set<std::string> names(known.begin(), known.end());
  for (const auto& [name, quota] : policy().quotas.principals) names.insert(name);
  for (const auto& [name, role] : policy().quotas.roles) names.insert(name);
  std::vector<model::QuotaView> out;
  for (const auto& name : names) out.push_back(quota(name, now));
  return out;
}

decltype(model::Totals::jobs) Queries::job_counts() const { return state_.jobs.counts(); }

model::Totals Queries::totals(Mono now) const {
  model::Totals out;
  out.jobs = job_counts();
  out.leases = state_.leases.counts();
  out.gangs = state_.gangs.counts();
  for (const auto& [id, host] : state_.hosts.all()) {
    const auto& record = host.instance.record;
    ++out.instances[{model::to_string(record.state), record.type}];
    out.price_per_hour += record.price_per_hour;
  }
  const CollectingHosts collecting_now = collecting(state_.hosts);
  out.collecting_hosts = collecting_now.hosts;
  out.waiting_outputs = collecting_now.waiting_jobs;
  out.collecting_price_per_hour = collecting_now.price_per_hour;
  const auto caps = state_.limits.caps();
  for (const auto& order : state_.waiting.queue().order()) {
    const auto& klass = state_.waiting.queue().at(order.cls);
    std::uint64_t count = klass.count;
    if (const auto* capped = caps.of(order.cls)) {
      const auto& [beyond, priced, shares] = *capped;
      count -= beyond + priced;
      if (beyond > 0) out.waiting[model::WaitingCode::kQuota] += beyond;
      if (priced > 0) out.waiting[state_.plan.waiting_code(order.cls, true)] += priced;
    }
    if (count > 0) out.waiting[state_.plan.waiting_code(order.cls, false)] += count;
    for (const auto& front : klass.fronts)
      out.oldest_wait = std::max(out.oldest_wait, now - front.lane->first().since);
  }
  return out;
}

}  // namespace hostler::dispatch
