#include "sdk/check/host/lent_memory.h"

#include <signal.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstdlib>

#include "core/base/assert.h"

namespace hostler::check {
namespace {

constexpr std::size_t kPage = 4096, kReserved = std::size_t{8} << 20U, kSlots = 256;
constexpr int kPoison = 0xa5;

/// What a signal handler knows of the memory of one call.
struct Slot {
  std::atomic<char*> begin{nullptr};
  std::atomic<const char*> call{""};
  std::atomic<bool> is_in_use{false}, is_taken_back{false};
};
std::array<Slot, kSlots> lent_slots;
std::atomic<std::size_t> next_slot{0};
std::atomic<Findings*> crash_findings{nullptr};

/// Of all that no call uses any more, the one that was used first.
std::size_t free_slot() {
  for (;;) {
    const std::size_t slot = next_slot++ % kSlots;
    if (!lent_slots[slot].is_in_use.exchange(true)) return slot;
  }
}

void explain(const siginfo_t& info, Findings& findings) {
  const auto* const at = static_cast<const char*>(info.si_addr);
  for (const Slot& slot : lent_slots) {
    const char* const begin = slot.begin;
    if (begin == nullptr || at < begin || at >= begin + kReserved) continue;
    if (slot.is_taken_back)
      return findings.fail_in_signal("R16", slot.call,
                                     "used memory of the request after the function had returned");
    return findings.fail_in_signal("R10", slot.call,
                                   "read beyond the end of a text, an array or a struct of the "
                                   "request");
  }
}

void on_crash(int signal, siginfo_t* info, void* /*context*/) {
  Findings* const findings = crash_findings;
  if (findings != nullptr && info->si_code > 0) explain(*info, *findings);
  (void)::signal(signal, SIG_DFL);
  (void)::raise(signal);
}

void on_exit_called(int status, void* /*none*/) {
  Findings* const findings = crash_findings;
  if (findings != nullptr) findings->note_exit(status);
}

}  // namespace

LentMemory::LentMemory(const char* call, std::size_t later_bytes)
    : later_bytes_(later_bytes), slot_(free_slot()) {
  Slot& slot = lent_slots[slot_];
  if (char* const before = slot.begin) (void)::munmap(before, kReserved);
  void* const memory =
      ::mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  HOSTLER_ASSERT(memory != MAP_FAILED, "address space for a request");
  next_ = static_cast<char*>(memory);
  slot.call = call;
  slot.is_taken_back = false;
  slot.begin = next_;
}

LentMemory::~LentMemory() {
  Slot& slot = lent_slots[slot_];
  slot.is_taken_back = true;
  (void)::madvise(slot.begin, kReserved, MADV_DONTNEED);
  (void)::mprotect(slot.begin, kReserved, PROT_NONE);
  slot.is_in_use = false;
}

void* LentMemory::lend(const void* bytes, std::size_t size, std::size_t more) {
  const std::size_t pages = (size + more + kPage - 1) / kPage * kPage;
  const char* const end = lent_slots[slot_].begin + kReserved;
  HOSTLER_ASSERT(static_cast<std::size_t>(end - next_) > pages + kPage, "requests are smaller");
  (void)::mprotect(next_, pages, PROT_READ | PROT_WRITE);
  char* const at = next_ + pages - size - more;
  std::memcpy(at, bytes, size);
  std::memset(at + size, kPoison, more);
  next_ += pages + kPage;
  return at;
}

hostler_str LentMemory::lend(const hostler_str& text) {
  if (text.len == 0) return {nullptr, 0};
  // The host's texts end with a NUL.
  return {static_cast<const char*>(lend(text.ptr, text.len + 1)), text.len};
}

void explain_crashes(Findings& findings) {
  crash_findings = &findings;
  struct sigaction action {};
  action.sa_sigaction = &on_crash;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGSEGV, SIGBUS}) (void)::sigaction(signal, &action, nullptr);
  (void)::on_exit(&on_exit_called, nullptr);
}

}  // namespace hostler::check
