#include "core/store/restore.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/crypto/random.h"
#include "core/store/create_json.h"
#include "core/store/meta.h"
#include "core/store/rows.h"

namespace hostler::store {
namespace {

using model::Restored;

Result<std::uint64_t> meta_number(Connection& connection, std::string_view key) {
  return parse_u64(HOSTLER_TRY(meta_value(connection, key))).value_or(0);
}

/// The highest number ever given: that of the table's last row, or what pruning noted before it
/// took that row away.
Result<std::uint64_t> highest(Connection& connection, const std::string& column,
                              const std::string& table, const std::string& key,
                              std::string_view mark) {
  auto find = HOSTLER_TRY(connection.prepare("SELECT " + column + " FROM " + table + " ORDER BY " +
                                             key + " DESC LIMIT 1"));
  HOSTLER_TRY(find.start());
  const bool any = HOSTLER_TRY(find.next());
  return std::max(any ? static_cast<std::uint64_t>(find.i64(0)) : 0,
                  HOSTLER_TRY(meta_number(connection, mark)));
}

/// Calls `each` with a Row for every row of `sql`.
template <class Each>
Result<void> for_each_row(Connection& connection, const std::string& sql, Each each) {
  auto select = HOSTLER_TRY(connection.prepare(sql));
  HOSTLER_TRY(select.start());
  while (HOSTLER_TRY(select.next())) {
    Row row(select);
    HOSTLER_TRY(each(row));
  }
  return {};
}

Result<void> restore_work(Connection& connection, Restored& out) {
  const auto ended = std::to_string(static_cast<int>(model::WorkState::kSucceeded));
  HOSTLER_TRY(for_each_row(
      connection,
      "SELECT " + prefixed(kWorkColumns, "w") + ", " + prefixed(kWorkSpecColumns, "s") +
          " FROM work w JOIN work_specs s ON s.id = w.id WHERE w.state < " + ended,
      [&](Row& row) -> Result<void> {
        auto& item = out.work.emplace_back();
        read(row, item.record);
        read_spec(row, item);
        return {};
      }));
  const auto earlier = [](const auto& a, const auto& b) { return a.arrival < b.arrival; };
  if (!std::is_sorted(out.work.begin(), out.work.end(), earlier))
    std::sort(out.work.begin(), out.work.end(), earlier);
  return for_each_row(
      connection,
      "SELECT s.principal, s.client_key, s.client_digest, w.id, w.kind FROM work_specs s "
      "JOIN work w ON w.id = s.id WHERE s.client_key <> '' ORDER BY s.id",
      [&](Row& row) -> Result<void> {
        auto& known = out.client_keys.emplace_back();
        row >> known.principal >> known.key >> known.digest >> known.work;
        return {};
      });
}

Result<void> restore_attempts(Connection& connection, Restored& out) {
  const auto done = std::to_string(static_cast<int>(model::AttemptState::kDone));
  return for_each_row(connection,
                      "SELECT " + std::string(kAttemptColumns) + " FROM attempts WHERE state < " +
                          done + " ORDER BY work, number",
                      [&](Row& row) -> Result<void> {
                        InlinePlace place;
                        read(row, out.attempts.emplace_back(), place);
                        return {};
                      });
}

Result<void> restore_instances(Connection& connection, Restored& out) {
  const auto gone = std::to_string(static_cast<int>(model::InstanceState::kGone));
  return for_each_row(
      connection,
      "SELECT " + prefixed(kInstanceColumns, "i") + ", COALESCE(c.request, '') FROM instances i " +
          "LEFT JOIN creates c ON c.instance = i.id WHERE i.state < " + gone + " ORDER BY i.id",
      [&](Row& row) -> Result<void> {
        auto& instance = out.instances.emplace_back();
        read(row, instance.record);
        std::string request;
        row >> request;
        if (request.empty()) return {};
        auto create = create_from_json(request);
        if (!create)
          return tl::unexpected(std::move(create).error().with_context(
              "the create of " + instance.record.id.text() + " is damaged in the store"));
        instance.create = std::make_shared<const model::CreateRequest>(*std::move(create));
        return {};
      });
}

Result<void> restore_gates(Connection& connection, Restored& out) {
  return for_each_row(connection,
                      "SELECT " + std::string(kGateColumns) + " FROM gates ORDER BY key",
                      [&](Row& row) -> Result<void> {
                        read(row, out.gates.emplace_back());
                        return {};
                      });
}

/// The newest of each kind: more of the past nobody decides by.
Result<void> restore_prices(Connection& connection, Restored& out) {
  return for_each_row(
      connection,
      "SELECT " + prefixed(kPriceColumns, "p") +
          " FROM prices p WHERE NOT EXISTS (SELECT 1 FROM prices n WHERE n.set_name = p.set_name "
          "AND n.type = p.type AND n.market = p.market AND n.zone = p.zone AND "
          "n.start_us > p.start_us) ORDER BY p.set_name, p.type, p.market, p.zone",
      [&](Row& row) -> Result<void> {
        read(row, out.prices.emplace_back());
        return {};
      });
}

}  // namespace

Result<void> begin_epoch(Connection& connection) {
  return in_one_transaction(connection, [&]() -> Result<void> {
    if (HOSTLER_TRY(meta_value(connection, "owner")).empty())
      HOSTLER_TRY(put_meta(connection, "owner", crypto::random_hex(16)));
    const auto epoch = HOSTLER_TRY(meta_number(connection, "epoch"));
    return put_meta(connection, "epoch", std::to_string(epoch + 1));
  });
}

Result<std::string> owner_of(Connection& connection) { return meta_value(connection, "owner"); }

Result<std::uint64_t> last_segment(Connection& connection) {
  auto find = HOSTLER_TRY(connection.prepare(
      "SELECT segment FROM attempts WHERE segment > 0 ORDER BY segment DESC LIMIT 1"));
  HOSTLER_TRY(find.start());
  return HOSTLER_TRY(find.next()) ? static_cast<std::uint64_t>(find.i64(0)) : 0;
}

Result<Restored> restore(Connection& connection) {
  Restored out;
  out.owner = HOSTLER_TRY(meta_value(connection, "owner"));
  out.epoch = HOSTLER_TRY(meta_number(connection, "epoch"));
  out.last_revision = HOSTLER_TRY(highest(connection, "rev", "ledger", "rev", "last_revision"));
  out.last_work = HOSTLER_TRY(highest(connection, "id", "work", "id", "last_work"));
  out.last_instance = HOSTLER_TRY(highest(connection, "id", "instances", "id", "last_instance"));
  // Ids and arrivals are given out together.
  out.last_arrival =
      HOSTLER_TRY(highest(connection, "arrival", "work_specs", "id", "last_arrival"));
  HOSTLER_TRY(restore_work(connection, out));
  HOSTLER_TRY(restore_attempts(connection, out));
  HOSTLER_TRY(restore_instances(connection, out));
  HOSTLER_TRY(restore_gates(connection, out));
  HOSTLER_TRY(restore_prices(connection, out));
  return out;
}

}  // namespace hostler::store
