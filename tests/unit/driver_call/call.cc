#include "tests/unit/driver_call/call.h"

#include <chrono>

namespace hostler::driver::test {
namespace {

Seen copy(const hostler_instance& from) {
  Seen to;
  to.id = view(from.id);
  to.key = view(from.idempotency_key);
  to.set_id = view(from.set_id);
  to.owner = view(from.owner);
  to.zone = view(from.zone);
  to.request_id = view(from.request_id);
  to.state_error = view(from.state_error);
  to.state_error_status = from.state_error_status;
  to.state_error_scope = from.state_error_scope;
  to.market = from.market;
  to.interruption = from.interruption_unix_ns;
  if (from.n_addresses != 0) to.address = view(from.addresses[0].text);
  for (std::size_t i = 0; i < from.n_tags; ++i)
    to.tags[std::string(view(from.tags[i].key))] = view(from.tags[i].value);
  to.state = from.state;
  to.price = from.price_micros_per_hour;
  to.tags_unknown = (from.flags & HOSTLER_INSTANCE_TAGS_UNKNOWN) != 0;
  return to;
}

SeenOffering copy(const hostler_offering& from) {
  std::vector<std::string> gpu_groups;
  for (std::size_t i = 0; i < from.n_gpu_groups; ++i)
    gpu_groups.push_back(std::to_string(from.gpu_groups[i].count) + " " +
                         std::string(view(from.gpu_groups[i].kind)) + " of " +
                         std::to_string(from.gpu_groups[i].memory_bytes >> 20U) + " MiB");
  return {std::string(view(from.provider_type)),
          std::string(view(from.zone)),
          std::string(view(from.architecture)),
          from.price_micros_per_hour,
          from.ram_bytes,
          from.scratch_bytes,
          from.vcpus,
          from.available,
          from.market,
          from.gpus,
          std::move(gpu_groups)};
}

SeenImage copy(const hostler_image& from) {
  return {std::string(view(from.id)), std::string(view(from.name)), std::string(view(from.owner)),
          std::string(view(from.architecture)), from.created_unix_ns};
}

SeenLeftover copy(const hostler_leftover& from) {
  SeenLeftover to{std::string(view(from.type)),
                  std::string(view(from.id)),
                  std::string(view(from.instance_id)),
                  {}};
  for (std::size_t i = 0; i < from.n_tags; ++i)
    to.tags[std::string(view(from.tags[i].key))] = view(from.tags[i].value);
  return to;
}

Call& call_of(const hostler_op* op) { return *static_cast<const Call::Op*>(op)->call; }

}  // namespace

Call::Call(int timeout_ms) {
  op.call = error.call = this;
  op.struct_size = sizeof(hostler_op);
  op.error = &error;
  error.struct_size = sizeof(hostler_error);
  error.retry_after_ms = error.quota_limit = error.quota_used = -1;
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  op.deadline_mono_ns =
      static_cast<std::uint64_t>(std::chrono::nanoseconds(until.time_since_epoch()).count());
  error.set_text = [](hostler_error* e, std::uint32_t field, const char* s, std::size_t n) {
    static_cast<Error*>(e)->call->texts[field].assign(s, n);
  };
  op.is_cancelled = [](const hostler_op* o) -> std::int32_t {
    Call& call = call_of(o);
    const std::lock_guard lock(call.mutex_);
    return call.cancelled_ ? 1 : 0;
  };
  op.on_cancel = [](hostler_op* o, void (*fn)(void*), void* arg) {
    Call& call = call_of(o);
    const std::lock_guard lock(call.mutex_);
    call.on_cancel_ = fn;
    call.on_cancel_arg_ = arg;
    if (fn != nullptr && call.cancelled_) fn(arg);
  };
  op.emit = [](hostler_op* o, const hostler_rec* rec) -> std::int32_t {
    Call& call = call_of(o);
    if (rec->kind == HOSTLER_REC_INSTANCE)
      call.instances.push_back(copy(*reinterpret_cast<const hostler_instance*>(rec)));
    if (rec->kind == HOSTLER_REC_SET_INFO) {
      const auto& info = *reinterpret_cast<const hostler_set_info*>(rec);
      call.account = view(info.account_id);
      call.currency = view(info.currency);
      call.capabilities = info.capabilities;
      call.user_data_max_bytes = info.user_data_max_bytes;
    }
    if (rec->kind == HOSTLER_REC_OFFERING)
      call.offerings.push_back(copy(*reinterpret_cast<const hostler_offering*>(rec)));
    if (rec->kind == HOSTLER_REC_IMAGE)
      call.images.push_back(copy(*reinterpret_cast<const hostler_image*>(rec)));
    if (rec->kind == HOSTLER_REC_LEFTOVER)
      call.leftovers.push_back(copy(*reinterpret_cast<const hostler_leftover*>(rec)));
    if (rec->kind == HOSTLER_REC_CONSOLE) {
      const auto& piece = *reinterpret_cast<const hostler_console*>(rec);
      if (call.console.empty()) call.console_begin = piece.offset;
      call.console.append(reinterpret_cast<const char*>(piece.bytes), piece.n_bytes);
    }
    if (rec->kind == HOSTLER_REC_PRICE) {
      const auto& price = *reinterpret_cast<const hostler_price*>(rec);
      call.prices.push_back({std::string(view(price.zone)), price.start_unix_ns,
                             price.price_micros_per_hour, price.market});
    }
    if (rec->kind == HOSTLER_REC_QUOTA_GROUP)
      call.quota_group = view(reinterpret_cast<const hostler_quota_group*>(rec)->name);
    if (rec->kind == HOSTLER_REC_INTERRUPTION) {
      const auto& notice = *reinterpret_cast<const hostler_interruption*>(rec);
      call.notices.push_back({std::string(view(notice.instance_id)), std::string(view(notice.text)),
                              notice.interruption_unix_ns, notice.action});
      if (call.on_notice) call.on_notice();
    }
    return 0;
  };
  op.complete = [](hostler_op* o, hostler_status with) {
    Call& call = call_of(o);
    const std::lock_guard lock(call.mutex_);
    call.has_ended_ = true;
    call.end_status_ = with;
    call.on_cancel_ = nullptr;
    call.ended_.notify_all();
  };
}

hostler_status Call::wait() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return has_ended_; });
  return end_status_;
}

void Call::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  if (on_cancel_ != nullptr) on_cancel_(on_cancel_arg_);
}

}  // namespace hostler::driver::test
