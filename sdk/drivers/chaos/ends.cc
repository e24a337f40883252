#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "chaos.h"
#include "segv.h"

namespace chaos {

hostler_status fails(hostler_op* op, hostler_status status, std::string_view message) {
  op->error->set_text(op->error, HOSTLER_TEXT_MESSAGE, message.data(), message.size());
  return status;
}

void wait_at_gate(const std::string& path) {
  const int gate = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (gate >= 0) ::close(gate);
}

hostler_status wait_for_cancel(hostler_op* op) {
  std::mutex mutex;
  std::condition_variable cancelled;
  bool is = false;
  {
    const hostler::driver::OnCancel on_cancel(op, [&] {
      const std::lock_guard lock(mutex);
      is = true;
      cancelled.notify_all();
    });
    std::unique_lock lock(mutex);
    cancelled.wait(lock, [&] { return is; });
  }
  return fails(op, HOSTLER_E_CANCELLED, "given up as told");
}

hostler_status end_as_told(hostler_set* s, hostler_op* op, const std::string& id,
                           const std::string& key) {
  const auto& word = s->word;
  if (word == "nothing") return HOSTLER_OK;
  if (word == "no_message") return HOSTLER_E_QUOTA;
  if (word == "throw") throw std::runtime_error("not caught by the driver");
  if (word == "unknown_status") return fails(op, -77, "something new");
  if (word == "positive_status") return emit_then(op, id, key, 7);
  if (word == "fail_after_id") {
    emit_then(op, id, key, HOSTLER_OK);
    return fails(op, HOSTLER_E_TRANSIENT, "connection lost");
  }
  if (word == "early") {
    emit_then(op, id, key, HOSTLER_OK);
    op->complete(op, HOSTLER_OK);
    return HOSTLER_PENDING;
  }
  if (word == "complete_twice" || word == "return_after_complete") {
    emit_then(op, id, key, HOSTLER_OK);
    op->complete(op, HOSTLER_OK);
    if (word == "complete_twice") op->complete(op, HOSTLER_E_INTERNAL);
    return word == "complete_twice" ? HOSTLER_PENDING : HOSTLER_OK;
  }
  if (word == "blocking_cancel") {
    // What runs when the call is cancelled never comes back.
    op->on_cancel(
        op, [](void* set) { wait_at_gate(static_cast<hostler_set*>(set)->gate); }, s);
    wait_at_gate(s->gate);
    return emit_then(op, id, key, HOSTLER_OK);
  }
  if (word == "keep_cancel") {
    op->on_cancel(
        op, [](void*) {}, nullptr);
    return emit_then(op, id, key, HOSTLER_OK);
  }
  return HOSTLER_PENDING;
}

void use_ended(const hostler_set& s) {
  const std::string& word = s.word;
  if (word == "log_of_no_set") {
    hostler_log_line line{};
    line.struct_size = sizeof line;
    line.level = HOSTLER_LOG_WARNING;
    line.set = reinterpret_cast<const hostler_set*>(&word);
    line.message = str("of nobody");
    s.host->log(s.host, &line);
  }
  hostler_op* const op = s.ended;
  if (op == nullptr) return;
  if (word == "log_after_end") hostler::driver::log(*s.host, HOSTLER_LOG_WARNING, "too late", op);
  if (word == "complete_after_end") op->complete(op, HOSTLER_OK);
  if (word == "emit_after_end") emit_then(op, "i-1", "", HOSTLER_OK);
  if (word == "fail_after_end") fails(op, HOSTLER_OK, "too late");
}

namespace {

std::atomic<bool> ends_recursion = false;

int overflow_stack(int depth) {
  if (ends_recursion) return depth;
  volatile char room[4096] = {};
  room[0] = static_cast<char>(depth);
  return overflow_stack(depth + 1) + room[0];
}

}  // namespace

void log_at_end_of_thread(const hostler_host* host) {
  struct Last {
    const hostler_host* host = nullptr;
    ~Last() {
      if (host != nullptr) hostler::driver::log(*host, HOSTLER_LOG_WARNING, "closed");
    }
  };
  thread_local Last last;
  last.host = host;
}

void end_process(const std::string& word) {
  if (word == "segv") segv();
  if (word == "abort") std::abort();
  if (word == "exit") std::exit(0);
  if (word == "overflow_stack") overflow_stack(0);
  if (word == "kill") ::raise(SIGKILL);
  if (word == "segv_in_thread") std::thread([] { segv(); }).join();
  if (word == "say_and_abort") {
    std::fputs("the last words\n", stderr);
    std::abort();
  }
}

void begin(const std::string& word, const std::string& gate, const char* call) {
  const auto in = word.find(" in ");
  if (in == std::string::npos || word.substr(in + 4) != call) return;
  const std::string what = word.substr(0, in);
  if (what == "throw") throw std::runtime_error("not caught by the driver");
  if (what == "hang") wait_at_gate(gate);
  end_process(what);
}

}  // namespace chaos
