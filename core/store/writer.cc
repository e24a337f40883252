#include "core/store/writer.h"

#include "core/base/assert.h"
#include "core/store/create_json.h"
#include "core/store/in_list.h"
#include "core/store/rows.h"

namespace hostler::store {

Result<std::unique_ptr<Writer>> Writer::open(Connection& connection, Segments& segments) {
  Statements statements{
      .put_work = HOSTLER_TRY(connection.prepare(upsert_sql<model::WorkRecord>())),
      .put_spec = HOSTLER_TRY(connection.prepare(insert_spec_sql())),
      .put_lease = HOSTLER_TRY(connection.prepare(upsert_sql<model::LeaseRecord>())),
      .intend_attempt = HOSTLER_TRY(connection.prepare(upsert_intent_sql())),
      .end_attempt = HOSTLER_TRY(connection.prepare(upsert_end_sql())),
      .put_instance = HOSTLER_TRY(connection.prepare(upsert_sql<model::InstanceRecord>())),
      .put_create = HOSTLER_TRY(connection.prepare(upsert_sql<StoredCreate>())),
      .erase_create = HOSTLER_TRY(connection.prepare("DELETE FROM creates WHERE instance = $1")),
      .put_gate = HOSTLER_TRY(connection.prepare(upsert_sql<model::GateRecord>())),
      .open_gate = HOSTLER_TRY(connection.prepare("DELETE FROM gates WHERE key = $1")),
      .put_price = HOSTLER_TRY(connection.prepare(upsert_sql<model::PriceRow>())),
      .put_account = HOSTLER_TRY(connection.prepare(upsert_sql<model::SetAccount>())),
      .put_image = HOSTLER_TRY(connection.prepare(upsert_sql<model::ImageRow>())),
      .forget_image =
          HOSTLER_TRY(connection.prepare("DELETE FROM images WHERE set_name = $1 AND query = $2")),
      .put_use = HOSTLER_TRY(connection.prepare(upsert_sql<model::PrincipalUse>())),
      .put_pusher = HOSTLER_TRY(connection.prepare(upsert_sql<model::PusherRecord>())),
      .put_offered = HOSTLER_TRY(connection.prepare(upsert_sql<model::OfferedRow>())),
      .erase_offered = HOSTLER_TRY(connection.prepare(
          "DELETE FROM offered_types WHERE set_name = $1 AND provider_type = $2 AND market = $3 "
          "AND zone = $4")),
      .put_ram = HOSTLER_TRY(connection.prepare(upsert_sql<model::RamReport>())),
      .forget_ram = HOSTLER_TRY(
          connection.prepare("DELETE FROM ram_reports WHERE set_name = $1 AND type = $2")),
      .put_gpus = HOSTLER_TRY(connection.prepare(upsert_sql<model::GpuReport>())),
      .forget_gpus = HOSTLER_TRY(connection.prepare(
          "DELETE FROM gpu_reports WHERE set_name = $1 AND type = $2 AND kind = $3 AND memory = "
          "$4")),
      .put_record = HOSTLER_TRY(connection.prepare(insert_sql<model::LedgerRecord>())),
      .find_bodies = HOSTLER_TRY(
          connection.prepare("SELECT id, body FROM work_specs WHERE id IN (" + in_list() + ")")),
  };
  return std::unique_ptr<Writer>(new Writer(connection, segments, std::move(statements)));
}

Result<void> Writer::write(const Batch& batch) {
  connection_.clear_failure();
  if (outcome_unknown_ && HOSTLER_TRY(was_batch_committed())) return {};
  auto result = [&]() -> Result<void> {
    const auto places = HOSTLER_TRY(write_outputs(batch));
    return in_one_transaction(connection_, [&] { return write_rows(batch, places); });
  }();
  outcome_unknown_ = connection_.failure() == Failure::kUnknown;
  if (result)
    segments_.keep();
  else if (!outcome_unknown_)  // else rows may point there
    segments_.discard();
  return result;
}

Result<bool> Writer::was_batch_committed() {
  const bool is_there = HOSTLER_TRY(connection_.was_committed());
  outcome_unknown_ = false;
  if (is_there)
    segments_.keep();
  else
    segments_.discard();
  return is_there;
}

Result<std::vector<InlinePlace>> Writer::write_outputs(const Batch& batch) {
  std::vector<InlinePlace> places;
  places.reserve(batch.attempts.size());
  for (const auto& attempt : batch.attempts) {
    places.emplace_back();
    if (attempt.output != nullptr) places.back() = HOSTLER_TRY(segments_.append(*attempt.output));
  }
  HOSTLER_TRY(segments_.flush());
  return places;
}

Result<void> Writer::write_rows(const Batch& batch, const std::vector<InlinePlace>& places) {
  HOSTLER_ASSERT(places.size() == batch.attempts.size(), "each attempt has a place");
  HOSTLER_TRY(write_work(batch));
  for (std::size_t i = 0; i < batch.attempts.size(); ++i)
    HOSTLER_TRY(write_attempt(batch.attempts[i], places[i]));
  for (const auto& instance : batch.instances) HOSTLER_TRY(write_instance(instance));
  for (const auto& [key, record] : batch.gates) {
    if (record != nullptr)
      HOSTLER_TRY(store::write(sql_.put_gate, *record));
    else
      HOSTLER_TRY(sql_.open_gate.run(key));
  }
  for (const auto* price : batch.prices) HOSTLER_TRY(store::write(sql_.put_price, *price));
  for (const auto& [set, account] : batch.accounts)
    HOSTLER_TRY(store::write(sql_.put_account, *account));
  HOSTLER_TRY(write_images(batch));
  for (const auto& [principal, use] : batch.uses) HOSTLER_TRY(store::write(sql_.put_use, *use));
  for (const auto& [pool, row] : batch.pushers) HOSTLER_TRY(store::write(sql_.put_pusher, *row));
  HOSTLER_TRY(write_offered(batch));
  HOSTLER_TRY(write_ram_reports(batch));
  HOSTLER_TRY(write_gpu_reports(batch));
  for (const auto* record : batch.ledger) HOSTLER_TRY(store::write(sql_.put_record, *record));
  // Before the commit of the rows that point there; the disk has begun with it at flush().
  return segments_.sync();
}

Result<void> Writer::write_images(const Batch& batch) {
  for (const auto& [key, row] : batch.images) {
    if (row != nullptr)
      HOSTLER_TRY(store::write(sql_.put_image, *row));
    else
      HOSTLER_TRY(sql_.forget_image.run(key.first, key.second));
  }
  return {};
}

Result<void> Writer::write_ram_reports(const Batch& batch) {
  for (const auto& [key, row] : batch.ram_reports) {
    if (row != nullptr)
      HOSTLER_TRY(store::write(sql_.put_ram, *row));
    else
      HOSTLER_TRY(sql_.forget_ram.run(key.first, key.second));
  }
  return {};
}

Result<void> Writer::write_gpu_reports(const Batch& batch) {
  for (const auto& [key, row] : batch.gpu_reports) {
    const auto& [set, type, kind, memory] = key;
    if (row != nullptr)
      HOSTLER_TRY(store::write(sql_.put_gpus, *row));
    else
      HOSTLER_TRY(sql_.forget_gpus.run(set, type, kind, memory));
  }
  return {};
}

Result<void> Writer::write_offered(const Batch& batch) {
  for (const auto& [key, row] : batch.offered) {
    if (row != nullptr) {
      HOSTLER_TRY(store::write(sql_.put_offered, *row));
      continue;
    }
    const auto& [set, provider_type, market, zone] = key;
    HOSTLER_TRY(
        sql_.erase_offered.run(set, provider_type, static_cast<std::int64_t>(market), zone));
  }
  return {};
}

Result<void> Writer::write_work(const Batch& batch) {
  // Table by table, so that the pages of each stay in the cache.
  for (const auto& [item, record] : batch.inserted)
    HOSTLER_TRY(store::write(sql_.put_work, *record));
  for (const auto& [item, record] : batch.inserted) HOSTLER_TRY(write_spec(sql_.put_spec, *item));
  for (const auto* record : batch.work) HOSTLER_TRY(store::write(sql_.put_work, *record));
  for (const auto& [id, terms] : batch.leases) HOSTLER_TRY(store::write(sql_.put_lease, *terms));
  return {};
}

Result<void> Writer::write_attempt(const Batch::Attempt& attempt, const InlinePlace& place) {
  if (attempt.end == nullptr) return store::write_attempt(sql_.intend_attempt, *attempt.last, {});
  if (attempt.last->end) return store::write_attempt(sql_.end_attempt, *attempt.last, place);
  auto merged = *attempt.last;
  merged.end = *attempt.end;
  return store::write_attempt(sql_.end_attempt, merged, place);
}

Result<void> Writer::write_instance(const Batch::Instance& instance) {
  HOSTLER_TRY(store::write(sql_.put_instance, *instance.record));
  const auto id = instance.record->id;
  if (instance.erase_create) return sql_.erase_create.run(id.value);
  if (instance.create == nullptr) return {};
  const StoredCreate create{id, to_json(*instance.create)};
  return store::write(sql_.put_create, create);
}

Result<Writer::Bodies> Writer::bodies(std::span<const Value> numbers) {
  Bodies found;
  HOSTLER_TRY(for_each_in(sql_.find_bodies, numbers, [&](const Statement& row) -> Result<void> {
    found[static_cast<std::uint64_t>(row.i64(0))] =
        std::make_shared<const std::string>(row.text(1));
    return {};
  }));
  return found;
}

}  // namespace hostler::store
