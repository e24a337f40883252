#include "core/daemon/service/cost_view.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/clock.h"
#include "core/pricing/bill.h"

namespace hostler::daemon {
namespace {

using By = api::CostQuery::By;

constexpr std::size_t kInstancesPerPage = 10'000;

const std::string& name_of(const model::InstanceRecord& instance, By by) {
  if (by == By::kType) return instance.type;
  return by == By::kPool ? instance.pool : instance.set;
}

Result<void> add_instances(pricing::Bill& bill, const store::Reads& reads) {
  store::InstanceFilter filter{.gone_too = true, .after = {}, .limit = kInstancesPerPage};
  for (bool more = true; more;) {
    auto page = HOSTLER_TRY(reads.instances(filter));
    more = page.more;
    if (!page.items.empty()) filter.after = page.items.back().id;
    for (auto& instance : page.items) bill.add(std::move(instance));
  }
  return {};
}

using Row = model::CostView::Row;

/// Keeps the `limit` rows that cost most.
class TopRows {
 public:
  explicit TopRows(std::size_t limit) : limit_(limit) {}

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

/// Sums entries by name. There are more jobs than memory holds, so their entries come ordered by
/// job, and only one job's sum is kept at a time.
class Sums {
 public:
  explicit Sums(std::size_t limit) : top_(limit) {}

  void add(const std::string& name, const pricing::Bill::Entry& entry) {
    Row& row = rows_[name];
    row.cost += entry.cost;
    row.used_us += entry.used_us;
  }
  /// All entries of one name come in a row.
  void add_ordered(const std::string& name, const pricing::Bill::Entry& entry) {
    if (!rows_.contains(name)) hand_rows_on();
    add(name, entry);
  }
  void move_to(model::CostView& view) {
    hand_rows_on();
    top_.move_to(view);
  }

 private:
  void hand_rows_on() {
    for (auto& [name, row] : rows_) {
      row.name = name;
      top_.add(std::move(row));
    }
    rows_.clear();
  }

  std::map<std::string, Row> rows_;
  TopRows top_;
};

}  // namespace

bool is_by_work(By by) { return by == By::kUser || by == By::kJob; }

Result<model::CostView> make_cost_view(const store::Reads& reads, const api::CostQuery& query,
                                       const std::string& owner) {
  model::CostView view;
  view.since = query.since;
  const Wall now = read_clocks().wall;
  view.until = query.until.us == 0 ? now : query.until;
  if (owner.empty()) view.total = view.unused = model::Micros();
  if (view.until <= view.since) return view;
  pricing::Bill bill(view.since, view.until, now, HOSTLER_TRY(reads.prices({})).items);
  HOSTLER_TRY(add_instances(bill, reads));
  Sums sums(query.limit);
  model::Micros total, used;
  for (const auto& [id, instance] : bill.instances()) {
    const auto entry = bill.of(instance);
    total += entry.cost;
    if (!is_by_work(query.by))
      sums.add(query.by == By::kInstance ? id.text() : name_of(instance, query.by), entry);
  }
  HOSTLER_TRY(reads.uses(view.since, view.until, [&](const store::Use& use) {
    const auto entry = bill.of(use.instance, use.needs, use.from, use.to);
    used += entry.cost;
    if (!owner.empty() && use.principal != owner) return;
    if (query.by == By::kUser) sums.add(use.principal, entry);
    if (query.by == By::kJob) sums.add_ordered(use.attempt.work.text(), entry);
  }));
  if (owner.empty()) {
    view.total = total;
    view.unused = model::Micros{std::max<std::int64_t>(0, total.value - used.value)};
  }
  sums.move_to(view);
  return view;
}

}  // namespace hostler::daemon
