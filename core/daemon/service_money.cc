#include <algorithm>
#include <map>
#include <utility>

#include "core/daemon/clock.h"
#include "core/daemon/service.h"
#include "core/pricing/bill.h"

/// The service's part about prices and what was spent.
namespace hostler::daemon {
namespace {

using By = api::CostQuery::By;

/// Everything that a bill is made of, read once.
class Books {
 public:
  static Result<Books> open(const store::Reads& reads, Wall since, Wall until) {
    Books out(since, until);
    for (auto& price : HOSTLER_TRY(reads.prices({})))  // newest first, place by place
      out.histories_[{price.set, price.type, price.market, price.zone}].push_back(price.point);
    store::InstanceFilter filter{.gone_too = true, .after = {}, .limit = 10'000};
    for (bool more = true; more;) {
      auto page = HOSTLER_TRY(reads.instances(filter));
      more = page.more;
      if (!page.items.empty()) filter.after = page.items.back().id;
      for (auto& one : page.items)
        if (out.was_there(one)) out.instances_.emplace(one.id, std::move(one));
    }
    return out;
  }

  [[nodiscard]] const std::map<model::InstanceId, model::InstanceRecord>& instances() const {
    return instances_;
  }
  [[nodiscard]] std::pair<Wall, Wall> stay(const model::InstanceRecord& i) const {
    return {std::max(since_, i.created), std::min(until_, i.gone.us == 0 ? until_ : i.gone)};
  }
  [[nodiscard]] std::int64_t off_us(const model::InstanceRecord& i) const {
    std::int64_t all = i.off_us;
    if (i.state == model::InstanceState::kStopped)
      all += std::max<std::int64_t>(0, until_.us - i.state_since.us);
    // Spread evenly over its life, of which the bill may be a part.
    const auto [from, to] = stay(i);
    const std::int64_t life = (i.gone.us == 0 ? until_.us : i.gone.us) - i.created.us;
    if (life <= 0 || to <= from) return 0;
    return static_cast<std::int64_t>(static_cast<double>(all) *
                                     static_cast<double>(to.us - from.us) /
                                     static_cast<double>(life));
  }
  [[nodiscard]] model::Micros cost(const model::InstanceRecord& i) const {
    const auto [from, to] = stay(i);
    return pricing::cost_of_stay(history(i), i.price_per_hour, from, to, off_us(i));
  }
  /// Of an attempt, its part of the instance's cost meanwhile.
  [[nodiscard]] model::Micros cost(const store::Use& use, Wall& from, Wall& to) const {
    const auto where = instances_.find(use.instance);
    if (where == instances_.end()) return {};
    const auto& i = where->second;
    std::tie(from, to) = stay(i);
    from = std::max(from, use.from);
    if (use.to.us != 0) to = std::min(to, use.to);
    const auto whole = pricing::cost_of_stay(history(i), i.price_per_hour, from, to);
    return pricing::part_of(whole, use.needs, i.total);
  }

 private:
  Books(Wall since, Wall until) : since_(since), until_(until) {}

  [[nodiscard]] bool was_there(const model::InstanceRecord& i) const {
    // What the cloud never showed cost nothing.
    return !i.provider_id.empty() && i.created < until_ && (i.gone.us == 0 || i.gone > since_);
  }
  [[nodiscard]] const pricing::History& history(const model::InstanceRecord& i) const {
    static const pricing::History kNone;
    for (const std::string& zone : {i.zone, std::string()})
      if (const auto found = histories_.find({i.set, i.type, i.market, zone});
          found != histories_.end())
        return found->second;
    return kNone;
  }

  const Wall since_, until_;
  std::map<std::tuple<std::string, std::string, model::Market, std::string>, pricing::History>
      histories_;
  std::map<model::InstanceId, model::InstanceRecord> instances_;
};

std::string name_of(const model::InstanceRecord& i, By by) {
  switch (by) {
    case By::kType:
      return i.type;
    case By::kPool:
      return i.pool;
    case By::kSet:
      return i.set;
    default:
      return i.id.text();
  }
}

void put_in_order(model::CostView& view, std::size_t limit) {
  std::sort(view.rows.begin(), view.rows.end(), [](const auto& a, const auto& b) {
    return a.cost != b.cost ? a.cost > b.cost : a.name < b.name;
  });
  view.more = view.rows.size() > limit;
  if (view.more) view.rows.resize(limit);
}

}  // namespace

void DaemonService::prices(const api::Principal&, const std::string& set, const std::string& type,
                           api::Answer<std::vector<model::PriceSeen>> answer) {
  answer(parts_.store->reads().prices({.set = set, .type = type}));
}

void DaemonService::cost(const api::Principal& who, const api::CostQuery& query,
                         api::Answer<model::CostView> answer) {
  const bool own = who.role == api::Role::kSubmit;
  const bool of_jobs = query.by == By::kUser || query.by == By::kJob;
  if (own && !of_jobs)
    return answer(fail(Errc::kForbidden, who.name + " may ask by user or by job: what instances " +
                                             "cost is for readers and admins"));
  const auto bill = [&]() -> Result<model::CostView> {
    model::CostView view;
    view.since = query.since;
    view.until = query.until.us == 0 ? read_clocks().wall : query.until;
    if (view.until <= view.since) return view;
    const auto& reads = parts_.store->reads();
    const Books books = HOSTLER_TRY(Books::open(reads, view.since, view.until));
    std::map<std::string, model::CostView::Row> rows;
    const auto add = [&](const std::string& name, model::Micros cost, std::int64_t used_us) {
      auto& row = rows[name];
      row.cost += cost;
      row.used_us += std::max<std::int64_t>(0, used_us);
    };
    for (const auto& [id, one] : books.instances()) {
      view.total += books.cost(one);
      const auto [from, to] = books.stay(one);
      if (!of_jobs)
        add(name_of(one, query.by), books.cost(one), to.us - from.us - books.off_us(one));
    }
    model::Micros used;
    HOSTLER_TRY(reads.uses(view.since, view.until, {}, [&](const store::Use& use) {
      Wall from, to;
      const auto cost = books.cost(use, from, to);
      used += cost;
      if (of_jobs && (!own || use.principal == who.name))
        add(query.by == By::kUser ? use.principal : use.attempt.job.text(), cost, to.us - from.us);
    }));
    view.unused = {std::max<std::int64_t>(0, view.total.value - used.value)};
    if (own) view.total = view.unused = {};
    for (auto& [name, row] : rows) {
      row.name = name;
      view.rows.push_back(std::move(row));
    }
    put_in_order(view, query.limit);
    return view;
  };
  answer(bill());
}

}  // namespace hostler::daemon
