#include "sdk/check/host/lent_op.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "core/base/assert.h"
#include "core/base/mutex.h"
#include "sdk/check/faults/libc_faults.h"

namespace hostler::check {
namespace {

constexpr std::size_t kOpPage = 4096, kOpsMin = 256;
constexpr int kOpPoison = 0xa5;

/// A page that can be used, in front of one that nobody may touch.
char* guarded_page() {
  void* const memory =
      ::mmap(nullptr, 2 * kOpPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  HOSTLER_ASSERT(memory != MAP_FAILED, "two pages for an operation");
  (void)::mprotect(memory, kOpPage, PROT_READ | PROT_WRITE);
  return static_cast<char*>(memory);
}

/// A struct at the end of the page, whose begin says whose it is.
template <class T>
T* place(char* page, const void* owner, std::size_t later_bytes) {
  std::memcpy(page, &owner, sizeof owner);
  char* const at = page + kOpPage - sizeof(T) - later_bytes;
  std::memset(at, 0, sizeof(T));
  std::memset(at + sizeof(T), kOpPoison, later_bytes);
  auto* const out = reinterpret_cast<T*>(at);
  out->struct_size = static_cast<std::uint32_t>(sizeof(T) + later_bytes);
  return out;
}

}  // namespace

struct LentOp::Shared {
  std::atomic<bool> has_returned{true}, is_complete{true};
  std::atomic<int> records{0};
  std::atomic<bool> told_to_stop{false}, was_refused{false};
};

struct LentOp::Pool {
  Mutex mutex;
  std::vector<LentOp*> ops HOSTLER_GUARDED_BY(mutex);
  std::size_t next HOSTLER_GUARDED_BY(mutex) = 0;
};

LentOp::Pool& LentOp::pool() {
  static auto* const all = new Pool;  // drivers may use them until the process ends
  return *all;
}

LentOp::LentOp() : shared_(new Shared), op_pages_(guarded_page()), error_pages_(guarded_page()) {}

LentOp& LentOp::lend(const char* call, hostler_op* host, const Pretence& pretence,
                     const OpEvents& events, std::size_t later_bytes) {
  Pool& all = pool();
  const MutexLock lock(all.mutex);
  LentOp* chosen = nullptr;
  if (all.ops.size() >= kOpsMin) {
    chosen = all.ops[all.next++ % all.ops.size()];
    if (!chosen->is_over()) chosen = nullptr;
  }
  if (chosen == nullptr) all.ops.push_back(chosen = new LentOp);
  chosen->begin(call, host, pretence, events, later_bytes);
  return *chosen;
}

bool LentOp::is_live(const hostler_op* op) {
  Pool& all = pool();
  const MutexLock lock(all.mutex);
  return std::any_of(all.ops.begin(), all.ops.end(),
                     [&](const LentOp* one) { return one->op_ == op && !one->is_over(); });
}

bool LentOp::is_over() const { return shared_->has_returned && shared_->is_complete; }

void LentOp::begin(const char* call, hostler_op* host, const Pretence& pretence,
                   const OpEvents& events, std::size_t later_bytes) {
  call_ = call;
  host_ = host;
  pretence_ = pretence;
  events_ = &events;
  shared_->has_returned = shared_->is_complete = shared_->told_to_stop = shared_->was_refused =
      false;
  shared_->records = 0;
  error_ = place<hostler_error>(error_pages_, this, later_bytes);
  error_->retry_after_ms = error_->quota_limit = error_->quota_used = -1;
  error_->set_text = &LentOp::set_text;
  op_ = place<hostler_op>(op_pages_, this, later_bytes);
  op_->deadline_mono_ns = pretence.deadline_passed  ? 1
                          : pretence.hides_deadline ? 0
                                                    : host->deadline_mono_ns;
  op_->error = error_;
  op_->is_cancelled = &LentOp::is_cancelled;
  op_->on_cancel = &LentOp::on_cancel;
  op_->emit = &LentOp::emit;
  op_->complete = &LentOp::complete;
}

LentOp& LentOp::of(const void* lent) {
  const auto* page =
      static_cast<const char*>(lent) - reinterpret_cast<std::uintptr_t>(lent) % kOpPage;
  LentOp* owner = nullptr;
  std::memcpy(&owner, page, sizeof(void*));
  return *owner;
}

/// The host reads its own block of the error.
void LentOp::pass_error_on() {
  hostler_error& to = *host_->error;
  to.scope = error_->scope;
  to.flags = error_->flags;
  to.retry_after_ms = error_->retry_after_ms;
  to.quota_limit = error_->quota_limit;
  to.quota_used = error_->quota_used;
}

void LentOp::check_end(hostler_status status) {
  if (status == HOSTLER_OK && shared_->told_to_stop)
    events_->on_fault("R27", call_, "ended with OK although emit() had told it to stop");
  if (status < HOSTLER_E_KEY_MISMATCH)
    events_->on_fault("R9", call_, "ended with a status that this ABI does not have");
}

void LentOp::set_text(hostler_error* e, std::uint32_t field, const char* s, std::size_t n) {
  const Inside side(Inside::kHost);
  LentOp& self = of(e);
  if (s != nullptr) self.events_->on_text(self.call_, s, n);
  self.host_->error->set_text(self.host_->error, field, s, n);
}

std::int32_t LentOp::is_cancelled(const hostler_op* op) {
  const Inside side(Inside::kHost);
  const LentOp& self = of(op);
  if (self.pretends_end()) return 1;
  return self.host_->is_cancelled(self.host_);
}

void LentOp::on_cancel(hostler_op* op, void (*fn)(void*), void* arg) {
  LentOp& self = of(op);
  if (fn != nullptr && self.pretends_end()) {
    fn(arg);  // as the host does when the operation is cancelled already
    return;
  }
  const Inside side(Inside::kHost);
  self.host_->on_cancel(self.host_, fn, arg);
}

std::int32_t LentOp::emit(hostler_op* op, const hostler_rec* record) {
  const Inside side(Inside::kHost);
  LentOp& self = of(op);
  Shared& shared = *self.shared_;
  const int max = self.pretence_.records_max;
  if (max >= 0 && ++shared.records > max) {
    if (shared.told_to_stop.exchange(true))
      self.events_->on_fault("R27", self.call_, "emits on although emit() has told it to stop");
    return 1;
  }
  if (shared.was_refused)
    self.events_->on_fault("R27", self.call_, "emits on although emit() has told it to stop");
  const std::int32_t answer = self.host_->emit(self.host_, record);
  if (answer != 0 && !shared.is_complete) shared.was_refused = true;
  if (answer == 0)
    self.events_->on_record(*record);
  else if (self.host_->is_cancelled(self.host_) != 0)  // else the host names what is wrong
    shared.told_to_stop = true;
  return answer;
}

void LentOp::complete(hostler_op* op, hostler_status status) {
  const Inside side(Inside::kHost);
  LentOp& self = of(op);
  if (!self.shared_->is_complete) {
    self.pass_error_on();
    self.check_end(status);
  }
  hostler_op* const host = self.host_;
  if (status == HOSTLER_OK && self.pretends_end()) {
    // A watch has to end now, which the host, who has not cancelled it, would take for too early.
    static constexpr std::string_view kWhy = "ended as it was told";
    host->error->set_text(host->error, HOSTLER_TEXT_MESSAGE, kWhy.data(), kWhy.size());
    status = HOSTLER_E_CANCELLED;
  }
  host->complete(host, status);
  self.shared_->is_complete = true;
}

void LentOp::returned(hostler_status status) {
  if (status != HOSTLER_PENDING && !shared_->is_complete) {
    pass_error_on();
    check_end(status);
    shared_->is_complete = true;
  }
  shared_->has_returned = true;
}

}  // namespace hostler::check
