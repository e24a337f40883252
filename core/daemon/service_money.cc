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

constexpr std::size_t kInstancesAPage = 10'000;

bool is_of_jobs(By by) { return by == By::kUser || by == By::kJob; }

const std::string& name_of(const model::InstanceRecord& instance, By by) {
  if (by == By::kType) return instance.type;
  return by == By::kPool ? instance.pool : instance.set;
}

Result<void> add_instances(pricing::Bill& bill, const store::Reads& reads) {
  store::InstanceFilter filter{.gone_too = true, .after = {}, .limit = kInstancesAPage};
  for (bool more = true; more;) {
    auto page = HOSTLER_TRY(reads.instances(filter));
    more = page.more;
    if (!page.items.empty()) filter.after = page.items.back().id;
    for (auto& instance : page.items) bill.add(std::move(instance));
  }
  return {};
}

/// Rows by their names, and then the dearest of them.
class Rows {
 public:
  void add(const std::string& name, const pricing::Bill::Entry& entry) {
    auto& row = rows_[name];
    row.cost += entry.cost;
    row.used_us += entry.used_us;
  }
  void move_to(model::CostView& view, std::size_t limit) {
    for (auto& [name, row] : rows_) {
      row.name = name;
      view.rows.push_back(std::move(row));
    }
    std::stable_sort(view.rows.begin(), view.rows.end(),
                     [](const auto& a, const auto& b) { return a.cost > b.cost; });
    view.more = view.rows.size() > limit;
    if (view.more) view.rows.resize(limit);
  }

 private:
  std::map<std::string, model::CostView::Row> rows_;
};

/// Of one submitter only, if `whose` names him.
Result<model::CostView> make_bill(const store::Reads& reads, const api::CostQuery& query,
                                  const std::string& whose) {
  model::CostView view;
  view.since = query.since;
  view.until = query.until.us == 0 ? read_clocks().wall : query.until;
  if (view.until <= view.since) return view;
  pricing::Bill bill(view.since, view.until, HOSTLER_TRY(reads.prices({})));
  HOSTLER_TRY(add_instances(bill, reads));
  Rows rows;
  for (const auto& [id, instance] : bill.instances()) {
    const auto entry = bill.of(instance);
    view.total += entry.cost;
    if (!is_of_jobs(query.by))
      rows.add(query.by == By::kInstance ? id.text() : name_of(instance, query.by), entry);
  }
  model::Micros used;
  HOSTLER_TRY(reads.uses(view.since, view.until, [&](const store::Use& use) {
    const auto entry = bill.of(use.instance, use.needs, use.from, use.to);
    used += entry.cost;
    if (is_of_jobs(query.by) && (whose.empty() || use.principal == whose))
      rows.add(query.by == By::kUser ? use.principal : use.attempt.job.text(), entry);
  }));
  if (whose.empty())
    view.unused = {std::max<std::int64_t>(0, view.total.value - used.value)};
  else
    view.total = {};
  rows.move_to(view, query.limit);
  return view;
}

}  // namespace

void DaemonService::prices(const api::Principal&, const std::string& set, const std::string& type,
                           api::Answer<std::vector<model::PriceSeen>> answer) {
  answer(parts_.store->reads().prices({.set = set, .type = type}));
}

void DaemonService::cost(const api::Principal& who, const api::CostQuery& query,
                         api::Answer<model::CostView> answer) {
  const bool own = who.role == api::Role::kSubmit;
  if (own && !is_of_jobs(query.by))
    return answer(fail(Errc::kForbidden, who.name + " may ask by user or by job: what instances " +
                                             "cost is for readers and admins"));
  const bool taken =
      parts_.worker->post([store = parts_.store, query, whose = own ? who.name : "", answer] {
        answer(make_bill(store->reads(), query, whose));
      });
  if (!taken) answer(fail(Errc::kUnavailable, "too many bills are being made; ask again later"));
}

}  // namespace hostler::daemon
