#include "core/store/reads.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "core/store/in_list.h"

namespace hostler::store {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kLimitMax = 10'000;
constexpr auto kBorrowWait = 2s;

std::size_t bounded(std::size_t limit) { return std::clamp<std::size_t>(limit, 1, kLimitMax); }

Result<model::WorkItem> read_work(RowReader& row, bool body) {
  model::WorkItem item;
  HOSTLER_TRY(read(row, item.record));
  HOSTLER_TRY(read(row, item));
  if (!body) return item;
  std::string text;
  row.text("body", text);
  item.body = std::make_shared<const std::string>(std::move(text));
  return item;
}

Result<model::WorkItem> read_without_body(const Statement& from) {
  RowReader row(from);
  return read_work(row, false);
}

Result<model::InstanceRecord> read_instance(const Statement& from) {
  auto out = HOSTLER_TRY(read<model::InstanceRecord>(from));
  out.identity.delivered_private_key.clear();
  out.identity.challenge_secret.clear();
  out.identity.next_secret.clear();
  return out;
}

template <class T>
Page<T> cut(std::vector<T> items, std::size_t limit) {
  Page<T> page{std::move(items), false};
  if (page.items.size() > limit) {
    page.more = true;
    page.items.erase(page.items.begin() + static_cast<std::ptrdiff_t>(limit), page.items.end());
  }
  return page;
}

template <class V>
void fields(V& v, typename V::template Ref<Use> r) {
  v.work("work", "kind", r.attempt.work);
  v.number("number", r.attempt.number);
  v.number("instance", r.instance.value);
  v.text("principal", r.principal);
  fields(v, r.needs);
  v.host_time("started_us", r.from);
  v.host_time("ended_us", r.to);
}

/// Up to `wanted` rows, and some more, that follow `after` in the order of the first column.
/// `start(after)` starts the statement, which returns at most `wanted`. Damaged rows are left out:
/// where they took the place of good ones, it reads on behind them.
template <class T, class Start>
Result<std::vector<T>> rows_after(std::int64_t after, std::size_t wanted, const Start& start,
                                  Result<T> (*read_one)(const Statement&)) {
  std::vector<T> items;
  for (std::size_t rows = wanted; rows == wanted && items.size() < wanted;) {
    Statement* select = HOSTLER_TRY(start(after));
    for (rows = 0; HOSTLER_TRY(select->next()); ++rows) {
      after = select->i64(0);
      if (auto one = read_one(*select)) items.push_back(*std::move(one));
    }
  }
  return items;
}

/// The first bound of a list: its ids or revisions lie behind it. 0: from the start.
std::int64_t first_after(std::uint64_t after, bool newest_first) {
  return newest_first && after == 0 ? INT64_MAX : static_cast<std::int64_t>(after);
}

}  // namespace

/// A connection with the statements that were prepared on it.
struct Reads::Session {
  explicit Session(std::unique_ptr<Connection> opened) : connection(std::move(opened)) {}

  Result<Statement*> prepared(const std::string& sql) {
    if (const auto known = statements.find(sql); known != statements.end()) return &known->second;
    return &statements.emplace(sql, HOSTLER_TRY(connection->prepare(sql))).first->second;
  }

  std::unique_ptr<Connection> connection;
  std::unordered_map<std::string, Statement> statements;
};

class Reads::Borrowed {
 public:
  Borrowed(const Reads& reads, std::unique_ptr<Session> session)
      : reads_(reads), session_(std::move(session)) {}
  Borrowed(Borrowed&&) = default;
  ~Borrowed() {
    if (!session_) return;  // moved from
    // A statement with rows left to read would hold an old snapshot of the database.
    for (auto& [sql, statement] : session_->statements) statement.rewind();
    session_->connection->set_patience(Patience::kShort);
    {
      const MutexLock lock(reads_.mutex_);
      reads_.free_.push_back(std::move(session_));
    }
    reads_.returned_.notify_one();
  }
  Session* operator->() { return session_.get(); }

  /// The statement, started with `args`.
  template <class... Args>
  Result<Statement*> start(const std::string& sql, const Args&... args) {
    auto* statement = HOSTLER_TRY(session_->prepared(sql));
    HOSTLER_TRY(statement->start(args...));
    return statement;
  }

 private:
  const Reads& reads_;
  std::unique_ptr<Session> session_;
};

Reads::Reads(std::vector<std::unique_ptr<Session>> sessions) : free_(std::move(sessions)) {}
Reads::~Reads() = default;

Result<std::unique_ptr<Reads>> Reads::open(const Place& place, std::size_t connections) {
  std::vector<std::unique_ptr<Session>> sessions;
  for (auto& connection : HOSTLER_TRY(connect_readers(place, connections)))
    sessions.push_back(std::make_unique<Session>(std::move(connection)));
  return std::unique_ptr<Reads>(new Reads(std::move(sessions)));
}

Result<Reads::Borrowed> Reads::borrow() const {
  const MutexLock lock(mutex_);
  if (!returned_.wait_for(mutex_, kBorrowWait,
                          [this]() HOSTLER_REQUIRES(mutex_) { return !free_.empty(); }))
    return fail(Errc::kUnavailable,
                "all of the store's connections for reading are in use: try again");
  auto session = std::move(free_.back());
  free_.pop_back();
  return Borrowed(*this, std::move(session));
}

Result<model::WorkItem> Reads::job(model::WorkId id, bool with_body) const {
  auto session = HOSTLER_TRY(borrow());
  static const std::string kFrom =
      " FROM work w JOIN work_specs s ON s.id = w.id WHERE w.id = $1 AND " +
      is_of(model::WorkKind::kJob);
  static const std::string kWhole = select_work(true) + kFrom;
  static const std::string kBodiless = select_work(false) + kFrom;
  auto* found = HOSTLER_TRY(session.start(with_body ? kWhole : kBodiless, id.value));
  if (id.kind != model::WorkKind::kJob || !HOSTLER_TRY(found->next()))
    return fail(Errc::kNotFound, "there is no job " + id.text());
  RowReader row(*found);
  return read_work(row, with_body);
}

Result<StoredLease> Reads::lease(model::WorkId id, bool with_body) const {
  auto session = HOSTLER_TRY(borrow());
  static const std::string kFrom =
      " FROM work w JOIN work_specs s ON s.id = w.id LEFT JOIN leases l ON l.id = w.id "
      "WHERE w.id = $1 AND " +
      is_of(model::WorkKind::kLease);
  static const std::string kTerms = ", " + columns_sql<model::LeaseRecord>("l");
  static const std::string kWhole = select_work(true) + kTerms + kFrom;
  static const std::string kBodiless = select_work(false) + kTerms + kFrom;
  auto* found = HOSTLER_TRY(session.start(with_body ? kWhole : kBodiless, id.value));
  if (id.kind != model::WorkKind::kLease || !HOSTLER_TRY(found->next()))
    return fail(Errc::kNotFound, "there is no lease " + id.text());
  RowReader row(*found);
  StoredLease lease;
  lease.terms.id = id;  // Names the row if there is none.
  lease.item = HOSTLER_TRY(read_work(row, with_body));
  HOSTLER_TRY(read(row, lease.terms));
  return lease;
}

Result<std::map<model::WorkId, model::LeaseRecord>> Reads::lease_terms(
    const std::vector<model::WorkId>& leases) const {
  std::map<model::WorkId, model::LeaseRecord> out;
  if (leases.empty()) return out;
  std::vector<Value> ids;
  for (const auto id : leases) ids.emplace_back(static_cast<std::int64_t>(id.value));
  auto session = HOSTLER_TRY(borrow());
  static const std::string kSql =
      "SELECT " + lease_columns_without_texts() + " FROM leases WHERE id IN (" + in_list() + ")";
  auto* find = HOSTLER_TRY(session->prepared(kSql));
  HOSTLER_TRY(for_each_in(*find, ids, [&](const Statement& row) -> Result<void> {
    if (auto terms = read<model::LeaseRecord>(row)) out.emplace(terms->id, *terms);
    return {};
  }));
  return out;
}

Result<std::set<model::WorkId>> Reads::submitted_by(std::string_view principal,
                                                    const std::set<model::WorkId>& among) const {
  std::set<model::WorkId> out;
  const auto submitted = HOSTLER_TRY(submitters({among.begin(), among.end()}));
  for (const auto& [id, by] : submitted)
    if (by == principal) out.insert(id);
  return out;
}

Result<std::map<model::WorkId, std::string>> Reads::submitters(
    const std::vector<model::WorkId>& work) const {
  std::map<model::WorkId, std::string> out;
  if (work.empty()) return out;
  std::vector<Value> ids;
  for (const auto id : work) ids.emplace_back(static_cast<std::int64_t>(id.value));
  auto session = HOSTLER_TRY(borrow());
  static const std::string kSql =
      "SELECT w.id, w.kind, s.principal FROM work_specs s JOIN work w ON w.id = s.id "
      "WHERE s.id IN (" +
      in_list() + ")";
  auto* find = HOSTLER_TRY(session->prepared(kSql));
  HOSTLER_TRY(for_each_in(*find, ids, [&](const Statement& row) -> Result<void> {
    model::WorkId id;
    RowReader reader(row);
    reader.work("id", "kind", id);
    if (reader.ok()) out.emplace(id, row.view(2));
    return {};
  }));
  return out;
}

Result<StoredAttempt> Reads::attempt(model::AttemptId id) const {
  auto session = HOSTLER_TRY(borrow());
  static const std::string kSql = "SELECT " + columns_sql<StoredAttempt>() +
                                  " FROM attempts WHERE work = $1 AND number = $2 AND kind = $3";
  auto* found = HOSTLER_TRY(session.start(kSql, id.work.value, id.number, id.work.kind));
  if (!HOSTLER_TRY(found->next())) return fail(Errc::kNotFound, "there is no attempt " + id.text());
  return read<StoredAttempt>(*found);
}

Result<Page<model::WorkItem>> Reads::jobs(const JobFilter& filter) const {
  auto session = HOSTLER_TRY(borrow());
  // One query per state, each in the order of its index: no sort of a million rows.
  std::set<std::optional<model::WorkState>> states(filter.states.begin(), filter.states.end());
  if (states.empty()) states.emplace(std::nullopt);
  std::vector<model::WorkItem> all;
  const std::size_t wanted = bounded(filter.limit) + 1;
  for (const auto& state : states) {
    WorkQuery query;  // Its values must live until the rows are read.
    const auto start = [&](std::int64_t after) -> Result<Statement*> {
      query = work_query(filter, state, after, wanted);
      auto* select = HOSTLER_TRY(session->prepared(query.sql));
      HOSTLER_TRY(select->start_with(query.values));
      return select;
    };
    auto found = HOSTLER_TRY(rows_after(first_after(filter.after.value, filter.newest_first),
                                        wanted, start, &read_without_body));
    std::move(found.begin(), found.end(), std::back_inserter(all));
  }
  std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
    return filter.newest_first ? a.record.id > b.record.id : a.record.id < b.record.id;
  });
  return cut(std::move(all), bounded(filter.limit));
}

Result<Page<model::LedgerRecord>> Reads::ledger(model::Revision after, std::size_t limit) const {
  auto session = HOSTLER_TRY(borrow());
  static const std::string kSql = "SELECT " + columns_sql<model::LedgerRecord>() +
                                  " FROM ledger WHERE rev > $1 ORDER BY rev LIMIT $2";
  const std::size_t wanted = bounded(limit) + 1;
  const auto start = [&](std::int64_t from) { return session.start(kSql, from, wanted); };
  auto found =
      HOSTLER_TRY(rows_after(first_after(after, false), wanted, start, &read<model::LedgerRecord>));
  return cut(std::move(found), bounded(limit));
}

Result<Page<model::LedgerRecord>> Reads::ledger_of(std::string_view subject, model::Revision after,
                                                   std::size_t limit, bool newest_first) const {
  auto session = HOSTLER_TRY(borrow());
  static const std::string kSelect =
      "SELECT " + columns_sql<model::LedgerRecord>() + " FROM ledger WHERE subject = $1 AND rev ";
  static const std::string kForward = kSelect + "> $2 ORDER BY rev LIMIT $3";
  static const std::string kBackward = kSelect + "< $2 ORDER BY rev DESC LIMIT $3";
  const std::size_t wanted = bounded(limit) + 1;
  const auto start = [&](std::int64_t from) {
    return session.start(newest_first ? kBackward : kForward, subject, from, wanted);
  };
  auto found = HOSTLER_TRY(
      rows_after(first_after(after, newest_first), wanted, start, &read<model::LedgerRecord>));
  return cut(std::move(found), bounded(limit));
}

Result<model::InstanceRecord> Reads::instance(model::InstanceId id) const {
  auto session = HOSTLER_TRY(borrow());
  static const std::string kSql =
      "SELECT " + columns_sql<model::InstanceRecord>() + " FROM instances WHERE id = $1";
  auto* found = HOSTLER_TRY(session.start(kSql, id.value));
  if (!HOSTLER_TRY(found->next()))
    return fail(Errc::kNotFound, "there is no instance " + id.text());
  return read_instance(*found);
}

Result<Page<model::InstanceRecord>> Reads::instances(const InstanceFilter& filter) const {
  auto session = HOSTLER_TRY(borrow());
  static const std::string kSelect =
      "SELECT " + columns_sql<model::InstanceRecord>() + " FROM instances WHERE id > $1 ";
  static const std::string kAll = kSelect + "ORDER BY id LIMIT $2";
  static const std::string kPresent =
      kSelect + "AND state < " + std::to_string(static_cast<int>(model::InstanceState::kGone)) +
      " ORDER BY id LIMIT $2";
  const std::size_t wanted = bounded(filter.limit) + 1;
  const auto start = [&](std::int64_t after) {
    return session.start(filter.gone_too ? kAll : kPresent, after, wanted);
  };
  auto found = HOSTLER_TRY(
      rows_after(first_after(filter.after.value, false), wanted, start, &read_instance));
  return cut(std::move(found), bounded(filter.limit));
}

Result<Counts> Reads::counts() const {
  auto session = HOSTLER_TRY(borrow());
  Counts counts;
  counts.jobs.resize(static_cast<std::size_t>(model::WorkState::kHeld) + 1);
  auto* jobs = HOSTLER_TRY(session.start("SELECT state, COUNT(*) FROM work w WHERE " +
                                         is_of(model::WorkKind::kJob) + " GROUP BY state"));
  while (HOSTLER_TRY(jobs->next())) {
    const auto state = static_cast<std::size_t>(jobs->i64(0));
    if (state < counts.jobs.size()) counts.jobs[state] = static_cast<std::uint64_t>(jobs->i64(1));
  }
  const auto number = [&](const std::string& sql) -> Result<std::uint64_t> {
    auto* found = HOSTLER_TRY(session.start(sql));
    return HOSTLER_TRY(found->next()) ? static_cast<std::uint64_t>(found->i64(0)) : 0;
  };
  counts.instances =
      HOSTLER_TRY(number("SELECT COUNT(*) FROM instances WHERE state < " +
                         std::to_string(static_cast<int>(model::InstanceState::kGone))));
  counts.ledger_first = HOSTLER_TRY(number("SELECT COALESCE(MIN(rev), 0) FROM ledger"));
  counts.ledger_last = HOSTLER_TRY(number("SELECT COALESCE(MAX(rev), 0) FROM ledger"));
  counts.database_bytes = HOSTLER_TRY(session->connection->used_bytes());
  return counts;
}

Result<Page<model::PriceRow>> Reads::prices(const PriceFilter& filter) const {
  auto session = HOSTLER_TRY(borrow());
  static const std::string kSql =
      "SELECT " + columns_sql<model::PriceRow>() +
      " FROM prices WHERE ($1 = '' OR set_name = $2) AND ($3 = '' OR type = $4) "
      "ORDER BY set_name, type, market, zone, start_us DESC LIMIT $5";
  const std::size_t limit = filter.limit == 0 ? INT64_MAX - 1 : bounded(filter.limit);
  auto* select = HOSTLER_TRY(session.start(kSql, filter.set, filter.set, filter.type, filter.type,
                                           static_cast<std::int64_t>(limit + 1)));
  Page<model::PriceRow> page;
  std::size_t rows = 0;
  for (; HOSTLER_TRY(select->next()); ++rows) {
    auto row = read<model::PriceRow>(*select);
    if (row && page.items.size() < limit) page.items.push_back(*std::move(row));
  }
  page.more = rows > limit;
  return page;
}

Result<void> Reads::uses(Wall from, Wall to, const std::function<void(const Use&)>& seen) const {
  auto session = HOSTLER_TRY(borrow());
  session->connection->set_patience(Patience::kLong);
  // Page by page, as a server ends a statement after half a minute. An attempt without an end has
  // its times in the row of its work. A lease has no attempts, and all of its host.
  static const std::string kAttempts =
      "SELECT a.work, a.kind, a.number, a.instance, s.principal, s.vcpu_thousandths, s.gpus, "
      "s.ram, s.scratch, CASE WHEN a.has_end = 1 THEN a.started_us ELSE w.started_us END, "
      "CASE WHEN a.has_end = 1 THEN a.ended_us ELSE w.ended_us END FROM attempts a "
      "CROSS JOIN work w CROSS JOIN work_specs s WHERE (a.work, a.number) > ($1, $2) "
      "AND w.id = a.work AND s.id = a.work AND (a.has_end = 1 OR a.number = w.attempt) "
      "ORDER BY a.work, a.number LIMIT $3";
  static const std::string kLeases =
      "SELECT w.id, w.kind, w.attempt, w.instance, s.principal, i.vcpu_thousandths, i.gpus, "
      "i.ram, i.scratch, w.started_us, w.ended_us FROM leases l CROSS JOIN work w "
      "CROSS JOIN work_specs s CROSS JOIN instances i WHERE l.id > $1 AND w.attempt = $2 "
      "AND w.id = l.id AND s.id = l.id AND i.id = w.instance ORDER BY l.id LIMIT $3";
  for (const std::string* sql : {&kAttempts, &kLeases}) {
    std::int64_t work = 0, number = 0;
    for (std::size_t rows = kLimitMax; rows == kLimitMax;) {
      auto* found = HOSTLER_TRY(session.start(*sql, work, number, kLimitMax));
      for (rows = 0; HOSTLER_TRY(found->next()); ++rows) {
        work = found->i64(0);
        number = found->i64(2);
        Use use;
        RowReader row(*found);
        fields(row, use);
        if (row.ok() && use.from.us != 0 && use.from < to && (use.to.us == 0 || use.to > from))
          seen(use);
      }
    }
  }
  return {};
}

}  // namespace hostler::store
