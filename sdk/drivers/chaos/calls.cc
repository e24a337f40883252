#include <atomic>
#include <cstdlib>

#include "chaos.h"

namespace chaos {
namespace {

std::atomic<int> calls_now{0}, calls_max{0};  // in this library, for the serial drivers

/// Says in the record what the request asks for.
hostler_status echo(const hostler_create_req& r, hostler_op* op, const std::string& id,
                    const std::string& key) {
  std::string said = "subnet " + std::string(view(r.subnet));
  for (size_t i = 0; i < r.n_security_groups; ++i)
    said += ", group " + std::string(view(r.security_groups[i]));
  for (size_t i = 0; i < r.n_profiles; ++i) said += ", profile " + std::string(view(r.profiles[i]));
  if (!view(r.placement_group).empty())
    said += ", placement group " + std::string(view(r.placement_group)) + ", reservation " +
            std::string(view(r.capacity_reservation)) + ", identity " +
            std::string(view(r.identity_profile)) + ", tenancy " + std::to_string(r.tenancy) +
            ", public " + std::to_string(r.public_ip) + ", user " +
            std::string(view(r.remote_user));
  for (size_t i = 0; i < r.n_disks; ++i)
    said +=
        ", disk " + std::to_string(r.disks[i]->role) + " of " + std::to_string(r.disks[i]->bytes);
  said += ", params " + std::string(view(r.type->provider_params_json));
  if (r.user_data != nullptr && (r.user_data->flags & HOSTLER_USER_DATA_GZIP) != 0)
    said += ", gzip of " + std::to_string(r.user_data->n_bytes);
  if (r.user_data != nullptr && r.user_data->format == HOSTLER_USER_DATA_MIME) said += ", of parts";
  auto record = made(id, key);
  record.state_reason = str(said);
  emit(op, record);
  return HOSTLER_OK;
}

}  // namespace

Counted::Counted() {
  const int now = ++calls_now;
  int max = calls_max;
  while (now > max && !calls_max.compare_exchange_weak(max, now)) {
  }
}

Counted::~Counted() { --calls_now; }

hostler_status set_info(hostler_set* s, const hostler_set_info_req*, hostler_op* op) {
  begin(s->word, s->gate, "set_info");
  auto info = hostler::driver::set_info_record();
  info.account_id = str("account-1");
  info.currency = str("USD");
  info.list_consistency_ms = s->word == "no_consistency" ? 0 : 1500;
  info.capabilities = HOSTLER_CAP_SPOT | HOSTLER_CAP_USER_DATA;
  if (s->word == "few_tags") info.tags_max = 1;
  if (s->word == "lies_about_power") info.capabilities |= HOSTLER_CAP_STOP;
  if (s->word == "lies_about_concurrency") info.max_concurrency = 4'000'000'000;
  const std::string huge(std::size_t{1} << 20U, 'x');
  if (s->word == "huge_account") info.account_id = str(huge);
  if (s->word == "info_none") return HOSTLER_OK;
  const auto* const record = reinterpret_cast<const hostler_rec*>(&info);
  op->emit(op, record);
  if (s->word == "info_two") op->emit(op, record);
  return HOSTLER_OK;
}

hostler_status create(hostler_set* s, const hostler_create_req* r, hostler_op* op) {
  const Counted counted;
  const std::string key(view(r->idempotency_key)), id = s->word == "same_id" ? "i-1" : "i-" + key;
  const std::string& word = s->word;
  try {
    hostler::driver::require_known(*r);
  } catch (const hostler::driver::Error& unknown) {
    return unknown.report(op);
  }
  begin(word, s->gate, "create");
  if (word == "logs") hostler::driver::log(*s->host, HOSTLER_LOG_WARNING, "making", op);
  harm_process(word, s->gate);
  if (word.starts_with("id_then_")) {
    emit_then(op, id, key, HOSTLER_OK);
    end_process(word.substr(8));
  }
  end_process(word);
  if (word == "echo") return echo(*r, op, id, key);
  if (emit_wrong(word, op, id, key)) return HOSTLER_OK;
  if (const auto status = end_as_told(s, op, id, key);
      status != HOSTLER_PENDING || word == "early" || word == "complete_twice") {
    return status;
  }
  if (word == "hang" || word == "block") {
    emit_then(op, id, key, HOSTLER_OK);
    wait_at_gate(s->gate);
    return HOSTLER_OK;
  }
  if (word == "hang_pending") return HOSTLER_PENDING;
  if (word == "hang_then_pending") {
    wait_at_gate(s->gate);
    return HOSTLER_PENDING;
  }
  if (word == "cancellable") return wait_for_cancel(op);
  if (word == "cancelled_after_id") {
    wait_for_cancel(op);
    return emit_then(op, id, key, HOSTLER_E_CANCELLED);
  }
  if (word == "quota") {
    auto* const e = op->error;
    e->scope = HOSTLER_SCOPE_GROUP | HOSTLER_SCOPE_ZONE | 0x8000;
    e->flags = HOSTLER_EF_OUTCOME_UNKNOWN;
    e->retry_after_ms = 1500;
    e->quota_limit = 10;
    e->quota_used = 10;
    e->set_text(e, HOSTLER_TEXT_SCOPE_ZONE, "z1", 2);
    e->set_text(e, HOSTLER_TEXT_PROVIDER_CODE, "VcpuLimit", 9);
    e->set_text(e, 99, "ignored", 7);
    return fails(op, HOSTLER_E_QUOTA, "vcpu quota\nof g1 is used up");
  }
  if (word == "new_scope") {
    op->error->scope = 0x8000;
    return fails(op, HOSTLER_E_RATE_LIMIT, "a limit on something new");
  }
  if (word.starts_with("late")) {
    const std::lock_guard lock(s->mutex);
    s->threads.emplace_back([op, id, key, word] {
      emit_then(op, id, key, HOSTLER_OK);
      op->complete(op, HOSTLER_OK);
      if (word == "late_twice") op->complete(op, HOSTLER_OK);
      if (word == "late_emit") emit_then(op, id, key, HOSTLER_OK);
    });
    return HOSTLER_PENDING;
  }
  {
    const std::lock_guard lock(s->mutex);
    s->instances[id] = key;
    if (word.ends_with("_after_end")) s->ended = op;
  }
  return emit_then(op, id, key, HOSTLER_OK);
}

hostler_status list(hostler_set* s, const hostler_list_req*, hostler_op* op) {
  const Counted counted;
  begin(s->word, s->gate, "list");
  if (s->word == "abort_in_list") std::abort();
  if (emit_too_much(s->word, op)) return HOSTLER_OK;
  if (s->word == "ignores_stop") {
    wait_for_cancel(op);
    return emit_then(op, "i-1", "", HOSTLER_OK);
  }
  if (s->word == "peak") {
    const std::string id = "i-peak", key;
    auto record = made(id, key);
    record.created_unix_ns = 1000 * calls_max.load();
    emit(op, record);
    return HOSTLER_OK;
  }
  const std::lock_guard lock(s->mutex);
  use_ended(*s);
  for (const auto& [id, key] : s->instances) emit_then(op, id, key, HOSTLER_OK);
  return HOSTLER_OK;
}

hostler_status destroy(hostler_set* s, const hostler_destroy_req* r, hostler_op* op) {
  const Counted counted;
  begin(s->word, s->gate, "destroy");
  if (s->word == "logs") hostler::driver::log(*s->host, HOSTLER_LOG_WARNING, "ending", op);
  const std::lock_guard lock(s->mutex);
  s->gone = view(r->id);
  s->instances.erase(s->gone);
  return HOSTLER_OK;
}

hostler_status set_tags(hostler_set* s, const hostler_set_tags_req*, hostler_op* op) {
  begin(s->word, s->gate, "set_tags");
  return fails(op, HOSTLER_E_NOT_FOUND, "no such instance");
}

}  // namespace chaos
