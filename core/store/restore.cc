#include "core/store/restore.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "core/base/text.h"
#include "core/crypto/random.h"
#include "core/store/create_json.h"
#include "core/store/known.h"
#include "core/store/meta.h"
#include "core/store/restore_leases.h"
#include "core/store/rows.h"

namespace hostler::store {
namespace {

using model::Restored;

/// The highest number ever given: that of the table's last row, or what was noted before old rows
/// were removed.
template <class Record>
Result<std::uint64_t> highest(Connection& connection, const std::string& column,
                              std::string_view mark) {
  auto find = HOSTLER_TRY(connection.prepare("SELECT " + column + " FROM " +
                                             std::string(Table<Record>::kName) + " ORDER BY " +
                                             std::string(Table<Record>::kKey) + " DESC LIMIT 1"));
  HOSTLER_TRY(find.start());
  const std::int64_t last = HOSTLER_TRY(find.next()) ? std::max<std::int64_t>(find.i64(0), 0) : 0;
  if (last > kNumberMax)
    return tl::unexpected(damaged_number(
        "last " + column + " of table " + std::string(Table<Record>::kName), std::to_string(last)));
  return std::max(static_cast<std::uint64_t>(last), HOSTLER_TRY(meta_number(connection, mark)));
}

/// Calls `each` at every row of `sql`.
template <class Each>
Result<void> for_each_row(Connection& connection, const std::string& sql, Each each) {
  auto select = HOSTLER_TRY(connection.prepare(sql));
  HOSTLER_TRY(select.start());
  while (HOSTLER_TRY(select.next())) each(select);
  return {};
}

/// Columns of text hold anything that an admin or a broken disk has put there.
std::string account_problem(const model::SetAccount& row) {
  for (const auto& [column, text] : {std::pair("account", &row.account), {"region", &row.region}}) {
    if (text->size() > model::kAccountBytesMax)
      return std::string(column) + " is longer than " + std::to_string(model::kAccountBytesMax) +
             " bytes";
    if (!is_utf8(*text)) return std::string(column) + " is not UTF-8 text";
  }
  if (!is_name(row.set)) return "name is no name of a set";
  return row.account.empty() && row.region.empty() ? "account and region are empty" : "";
}

/// A row with an id that no create could be sent with is as good as none: the cloud is asked again.
std::string image_problem(const model::ImageRow& row) {
  const auto& id = row.image.id;
  const bool is_good = !id.empty() && id.size() <= model::kForeignNameMax && is_utf8(id);
  return is_good ? "" : "image is no id";
}

std::string use_problem(const model::PrincipalUse& row) {
  return is_utf8(row.principal) ? "" : "principal is not UTF-8";
}

/// Without its row nobody has pushed for the pool yet: the next push writes the row anew.
std::string pusher_problem(const model::PusherRecord& row) {
  if (!is_utf8(row.pool)) return "pool is not UTF-8";
  if (!is_utf8(row.principal)) return "principal is not UTF-8";
  const bool is_name = is_utf8(row.session) && row.session.size() <= model::kPushedNameMax;
  return is_name ? "" : "session is no name";
}

/// Reads live rows, and sets damaged ones aside with what depends on them.
class Restorer {
 public:
  Restorer(Connection& connection, Restored& out) : connection_(connection), out_(out) {}

  Result<void> run() {
    HOSTLER_TRY(read_instances());
    HOSTLER_TRY(read_work());
    HOSTLER_TRY(read_client_keys());
    HOSTLER_TRY(read_attempts());
    HOSTLER_TRY(read_taken_over());
    set_dependents_aside();
    HOSTLER_TRY(restore_leases(connection_, out_));
    HOSTLER_TRY(read_gates());
    HOSTLER_TRY(read_all(out_.accounts, account_problem));
    HOSTLER_TRY(read_all(out_.images, image_problem));
    HOSTLER_TRY(read_all(out_.uses, use_problem));
    HOSTLER_TRY(read_all(out_.pushers, pusher_problem));
    HOSTLER_TRY(read_all(out_.offered));
    HOSTLER_TRY(read_all(out_.ram_reports));
    HOSTLER_TRY(read_all(out_.gpu_reports));
    return read_prices();
  }

 private:
  Result<void> read_instances();
  Result<void> read_work();
  Result<void> read_client_keys();
  Result<void> read_attempts();
  Result<void> read_taken_over();
  Result<void> read_gates();
  Result<void> read_prices();
  void set_equal_arrivals_aside();
  void set_dependents_aside();

  /// Reads a record, or sets its row aside.
  template <class Record>
  bool is_good(RowReader& row, Record& record) {
    fields(row, record);
    if (row.ok()) return true;
    set_aside<Record>(key_text(record), row.problem());
    return false;
  }
  template <class Record>
  Result<void> read_all(std::vector<Record>& out) {
    return read_all(out, [](const Record&) { return std::string(); });
  }
  /// `problem_of`: what is wrong with a record whose columns are good, or an empty text.
  template <class Record, class ProblemOf>
  Result<void> read_all(std::vector<Record>& out, ProblemOf problem_of) {
    return for_each_row(connection_,
                        "SELECT " + columns_sql<Record>() + " FROM " +
                            std::string(Table<Record>::kName) + " ORDER BY " +
                            std::string(Table<Record>::kKey),
                        [&](const Statement& from) {
                          Record record;
                          RowReader row(from);
                          if (!is_good(row, record)) return;
                          if (auto problem = problem_of(record); !problem.empty())
                            set_aside<Record>(printable(key_text(record), 200), std::move(problem));
                          else
                            out.push_back(std::move(record));
                        });
  }
  template <class Record>
  model::DamagedRow& set_aside(std::string key, std::string problem) {
    return out_.damaged.emplace_back(model::DamagedRow{
        std::string(Table<Record>::kName), std::move(key), std::move(problem), {}});
  }

  Connection& connection_;
  Restored& out_;
  std::unordered_set<model::InstanceId> damaged_instances_;
  std::unordered_set<std::uint64_t> damaged_attempts_;  ///< The numbers of their work.
};

template <class E>
std::string number_of(E value) {
  return std::to_string(static_cast<int>(value));
}

Result<void> Restorer::read_instances() {
  const auto gone = number_of(model::InstanceState::kGone);
  return for_each_row(
      connection_,
      "SELECT " + columns_sql<model::InstanceRecord>("i") + ", COALESCE(c.request, '') " +
          "FROM instances i LEFT JOIN creates c ON c.instance = i.id WHERE i.state < " + gone +
          " OR i.state > " + gone + " ORDER BY i.id",
      [&](const Statement& from) {
        model::InstanceChanged instance;
        RowReader row(from);
        if (!is_good(row, instance.record)) {
          damaged_instances_.insert(instance.record.id);
          out_.damaged.back().instance = std::move(instance.record);
          return;
        }
        std::string request;
        row.text("request", request);
        if (!request.empty()) {
          auto create = create_from_json(request);
          if (!create) {
            damaged_instances_.insert(instance.record.id);
            set_aside<StoredCreate>(instance.record.id.text(), create.error().message).instance =
                std::move(instance.record);
            return;
          }
          instance.create = std::make_shared<const model::CreateRequest>(*std::move(create));
        }
        out_.instances.push_back(std::move(instance));
      });
}

Result<void> Restorer::read_work() {
  HOSTLER_TRY(for_each_row(
      connection_,
      "SELECT " + columns_sql<model::WorkRecord>("w") + ", " + columns_sql<model::WorkItem>("s") +
          " FROM work w LEFT JOIN work_specs s ON s.id = w.id WHERE " + work_lives(),
      [&](const Statement& from) {
        model::WorkItem item;
        RowReader row(from);
        if (!is_good(row, item.record)) return;
        static const int kSpec = static_cast<int>(columns_of<model::WorkRecord>().size());
        if (item.record.attempt == UINT32_MAX || item.record.starts == UINT32_MAX)
          set_aside<model::WorkRecord>(item.record.id.text(),
                                       "it has no number for an attempt left");
        else if (from.i64(kSpec) == kNoNumber)
          set_aside<model::WorkItem>(item.record.id.text(), "there is no such row");
        else if (is_good(row, item))
          out_.work.push_back(std::move(item));
      }));
  const auto earlier = [](const auto& a, const auto& b) { return a.arrival < b.arrival; };
  if (!std::is_sorted(out_.work.begin(), out_.work.end(), earlier))
    std::sort(out_.work.begin(), out_.work.end(), earlier);
  set_equal_arrivals_aside();
  return {};
}

/// The queue tells work of one class apart by its arrival.
void Restorer::set_equal_arrivals_aside() {
  std::optional<std::uint64_t> before;
  std::erase_if(out_.work, [&](const model::WorkItem& item) {
    if (std::exchange(before, item.arrival) != item.arrival) return false;
    set_aside<model::WorkItem>(item.record.id.text(),
                               "arrival is " + std::to_string(item.arrival) + ", as of other work");
    return true;
  });
}

/// Of damaged work too: a submit that is repeated must not start it a second time.
Result<void> Restorer::read_client_keys() {
  return for_each_row(connection_,
                      "SELECT s.principal, s.client_key, s.client_digest, w.id, w.kind "
                      "FROM work_specs s JOIN work w ON w.id = s.id "
                      "WHERE s.client_key <> '' ORDER BY s.id",
                      [&](const Statement& from) {
                        Restored::ClientKey known;
                        RowReader row(from);
                        row.text("principal", known.principal);
                        row.text("client_key", known.key);
                        row.text("client_digest", known.digest);
                        row.work("id", "kind", known.work);
                        if (row.ok()) out_.client_keys.push_back(std::move(known));
                      });
}

Result<void> Restorer::read_attempts() {
  // As the index attempts_open has it.
  const auto done = number_of(model::AttemptState::kDone);
  return for_each_row(
      connection_,
      "SELECT " + columns_sql<StoredAttempt>("a") + ", w.kind FROM attempts a " +
          "LEFT JOIN work w ON w.id = a.work WHERE a.state <> " + done +
          " ORDER BY a.work, a.number",
      [&](const Statement& from) {
        StoredAttempt stored;
        RowReader row(from);
        static const int kKind = static_cast<int>(columns_of<StoredAttempt>().size());
        const auto& work = stored.attempt.attempt.work;
        if (!is_good(row, stored)) {
          damaged_attempts_.insert(work.value);
        } else if (from.i64(kKind) != static_cast<std::int64_t>(work.kind)) {
          damaged_attempts_.insert(work.value);
          set_aside<StoredAttempt>(key_text(stored), "there is no work " + work.text());
        } else {
          out_.attempts.push_back(std::move(stored.attempt));
        }
      });
}

/// A host may report its end again.
Result<void> Restorer::read_taken_over() {
  for (const auto& range : out_.left_out)
    HOSTLER_TRY(for_each_row(connection_,
                             "SELECT id, kind FROM work WHERE id BETWEEN " +
                                 std::to_string(range.first) + " AND " +
                                 std::to_string(range.last) + " AND state BETWEEN " +
                                 number_of(model::WorkState::kSucceeded) + " AND " +
                                 number_of(model::WorkState::kCancelled) + " ORDER BY id",
                             [&](const Statement& from) {
                               model::WorkId id;
                               RowReader row(from);
                               row.work("id", "kind", id);
                               if (row.ok()) out_.taken_over.push_back(id);
                             }));
  return {};
}

/// Nothing tells whether an attempt runs whose row, or whose instance's, is damaged: its work must
/// not start again.
void Restorer::set_dependents_aside() {
  if (out_.damaged.empty()) return;
  std::erase_if(out_.work, [&](const model::WorkItem& item) {
    const auto& record = item.record;
    const bool placed = record.state != model::WorkState::kQueued;
    if (damaged_attempts_.contains(record.id.value))
      set_aside<model::WorkRecord>(record.id.text(), "an attempt of it is damaged");
    else if (placed && damaged_instances_.contains(record.instance))
      set_aside<model::WorkRecord>(record.id.text(),
                                   "its instance " + record.instance.text() + " is damaged");
    else
      return false;
    return true;
  });
}

Result<void> Restorer::read_gates() {
  return for_each_row(connection_,
                      "SELECT " + columns_sql<model::GateRecord>() + " FROM gates ORDER BY key",
                      [&](const Statement& from) {
                        model::GateRecord gate;
                        RowReader row(from);
                        if (is_good(row, gate)) out_.gates.push_back(std::move(gate));
                      });
}

/// The newest of each kind: nothing is decided by older ones.
Result<void> Restorer::read_prices() {
  return for_each_row(
      connection_,
      "SELECT " + columns_sql<model::PriceRow>("p") +
          " FROM prices p WHERE NOT EXISTS (SELECT 1 FROM prices n WHERE n.set_name = p.set_name "
          "AND n.type = p.type AND n.market = p.market AND n.zone = p.zone AND "
          "n.start_us > p.start_us) ORDER BY p.set_name, p.type, p.market, p.zone",
      [&](const Statement& from) {
        model::PriceRow price;
        RowReader row(from);
        if (is_good(row, price)) out_.prices.push_back(std::move(price));
      });
}

}  // namespace

Result<void> begin_epoch(Connection& connection) {
  return in_one_transaction(connection, [&]() -> Result<void> {
    const auto owner = HOSTLER_TRY(meta_value(connection, "owner"));
    if (owner.empty())
      HOSTLER_TRY(put_meta(connection, "owner", crypto::random_hex(16)));
    else if (!is_name(owner))
      return fail(Errc::kInternal,
                  "the store's owner is '" + printable(owner, 60) +
                      "', which is not a valid name: the database is damaged; restore a "
                      "backup");
    const auto epoch = HOSTLER_TRY(meta_number(connection, "epoch"));
    return put_number(connection, "epoch", epoch + 1);
  });
}

Result<std::string> owner_of(Connection& connection) { return meta_value(connection, "owner"); }

Result<std::uint64_t> last_segment(Connection& connection) {
  auto find = HOSTLER_TRY(connection.prepare(
      "SELECT segment FROM attempts WHERE segment > 0 ORDER BY segment DESC LIMIT 1"));
  HOSTLER_TRY(find.start());
  if (!HOSTLER_TRY(find.next())) return 0;
  return static_cast<std::uint64_t>(std::clamp<std::int64_t>(find.i64(0), 0, kNumberMax));
}

Result<Restored> restore(Connection& connection) {
  Restored out;
  out.owner = HOSTLER_TRY(meta_value(connection, "owner"));
  out.epoch = HOSTLER_TRY(meta_number(connection, "epoch"));
  out.left_out = HOSTLER_TRY(left_out(connection));
  out.restored_epoch = HOSTLER_TRY(meta_number(connection, "restored_epoch"));
  out.last_revision = HOSTLER_TRY(highest<model::LedgerRecord>(connection, "rev", "last_revision"));
  out.last_work = HOSTLER_TRY(highest<model::WorkRecord>(connection, "id", "last_work"));
  out.last_instance =
      HOSTLER_TRY(highest<model::InstanceRecord>(connection, "id", "last_instance"));
  // Ids and arrivals are given out together.
  out.last_arrival = std::max(
      HOSTLER_TRY(highest<model::WorkItem>(connection, "arrival", "last_arrival")), out.last_work);
  HOSTLER_TRY(Restorer(connection, out).run());
  return out;
}

}  // namespace hostler::store
