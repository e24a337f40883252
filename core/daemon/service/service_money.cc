#include <algorithm>
#include <map>
#include <utility>

#include "core/daemon/clock.h"
#include "core/daemon/service/service.h"
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

using Row = model::CostView::Row;

/// The dearest `limit` rows of any number.
class Dearest {
 public:
  explicit Dearest(std::size_t limit) : limit_(limit) {}

  void add(Row row) {
    rows_.push_back(std::move(row));
    if (rows_.size() >= 2 * limit_ + 1000) cut();
  }
  void move_to(model::CostView& view) {
    cut();
    view.rows = std::move(rows_);
    view.more = more_;
  }

 private:
  void cut() {
    std::ranges::stable_sort(rows_, [](const Row& a, const Row& b) { return a.cost > b.cost; });
    if (rows_.size() <= limit_) return;
    more_ = true;
    rows_.resize(limit_);
  }

  const std::size_t limit_;
  std::vector<Row> rows_;
  bool more_ = false;
};

/// Sums by names. Of jobs, which are more than memory holds, one after the other.
class Sums {
 public:
  explicit Sums(std::size_t limit) : dearest_(limit) {}

  void add(const std::string& name, const pricing::Bill::Entry& entry) {
    Row& row = rows_[name];
    row.cost += entry.cost;
    row.used_us += entry.used_us;
  }
  /// What comes of one name comes in a row.
  void add_next(const std::string& name, const pricing::Bill::Entry& entry) {
    if (!rows_.contains(name)) give_rows();
    add(name, entry);
  }
  void move_to(model::CostView& view) {
    give_rows();
    dearest_.move_to(view);
  }

 private:
  void give_rows() {
    for (auto& [name, row] : rows_) {
      row.name = name;
      dearest_.add(std::move(row));
    }
    rows_.clear();
  }

  std::map<std::string, Row> rows_;
  Dearest dearest_;
};

/// Of one submitter only, if `whose` names him.
Result<model::CostView> make_bill(const store::Reads& reads, const api::CostQuery& query,
                                  const std::string& whose) {
  model::CostView view;
  view.since = query.since;
  const Wall now = read_clocks().wall;
  view.until = query.until.us == 0 ? now : query.until;
  if (whose.empty()) view.total = view.unused = model::Micros();
  if (view.until <= view.since) return view;
  pricing::Bill bill(view.since, view.until, now, HOSTLER_TRY(reads.prices({})).items);
  HOSTLER_TRY(add_instances(bill, reads));
  Sums sums(query.limit);
  model::Micros total, used;
  for (const auto& [id, instance] : bill.instances()) {
    const auto entry = bill.of(instance);
    total += entry.cost;
    if (!is_of_jobs(query.by))
      sums.add(query.by == By::kInstance ? id.text() : name_of(instance, query.by), entry);
  }
  HOSTLER_TRY(reads.uses(view.since, view.until, [&](const store::Use& use) {
    const auto entry = bill.of(use.instance, use.needs, use.from, use.to);
    used += entry.cost;
    if (!whose.empty() && use.principal != whose) return;
    if (query.by == By::kUser) sums.add(use.principal, entry);
    if (query.by == By::kJob) sums.add_next(use.attempt.work.text(), entry);
  }));
  if (whose.empty()) {
    view.total = total;
    view.unused = model::Micros{std::max<std::int64_t>(0, total.value - used.value)};
  }
  sums.move_to(view);
  return view;
}

}  // namespace

void DaemonService::prices(const api::Principal&, const api::PriceQuery& query,
                           api::Answer<api::PricesView> answer) {
  if (query.limit == 0) return answer(api::PricesView{});
  auto page = parts_.store->reads().prices({query.set, query.type, query.limit});
  if (!page) return answer(tl::unexpected(page.error()));
  answer(api::PricesView{std::move(page->items), page->more});
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
