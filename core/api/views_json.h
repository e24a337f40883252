#pragma once

#include "core/api/service.h"
#include "core/json/writer.h"

/// The views as JSON, the same in the API, in event streams and with `--json`. For jobs see
/// job_codec.h.
namespace hostler::api {

void write_instance(json::Writer& w, const model::InstanceView& view);
void write_console(json::Writer& w, const model::ConsoleView& view);
void write_pool(json::Writer& w, const model::PoolView& view);
void write_type(json::Writer& w, const model::TypeView& view);
void write_set(json::Writer& w, const model::SetView& view);
void write_prices(json::Writer& w, const PricesView& view);
void write_cost(json::Writer& w, const model::CostView& view);
void write_quota(json::Writer& w, const model::QuotaView& view);
void write_shares(json::Writer& w, const model::SharesView& view);
void write_gate(json::Writer& w, const model::GateRecord& gate);
void write_ledger(json::Writer& w, const model::LedgerRecord& record);
void write_why(json::Writer& w, const WhyView& why);
void write_dump(json::Writer& w, const DumpView& dump);
/// Output as `text` if it is UTF-8, or else as `hex`.
void write_output(json::Writer& w, const OutputPart& part);
/// `in_full`: with the text of each problem, not only its subject.
void write_health(json::Writer& w, const HealthView& health, bool in_full);

}  // namespace hostler::api
