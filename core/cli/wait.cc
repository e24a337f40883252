#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/cli/commands.h"
#include "core/cli/end_signals.h"
#include "core/cli/follow.h"
#include "core/cli/work_rows.h"
#include "core/json/writer.h"

/// Waiting for jobs and leases. If the daemon restarts meanwhile, these functions connect again.
namespace hostler::cli {
namespace {

using namespace std::chrono_literals;

bool ended(std::string_view state) {
  return state == "succeeded" || state == "failed" || state == "cancelled";
}

/// The exit status of an ended job. Never 0 if the job failed: a job whose command exited with 0
/// fails if its output is lost.
int status_of(json::Value job) {
  const auto status = static_cast<int>(job.at("exit_status").int_or(exit_code::kNoStatus));
  return status == 0 && job.at("state").text() != "succeeded" ? exit_code::kNoStatus : status;
}

/// A progress line on standard error that overwrites itself. Prints nothing unless standard error
/// is a terminal.
class Progress {
 public:
  void show(const std::string& text) {
    if (!on_ || text == shown_) return;
    std::fprintf(stderr, "\r\033[K%s", printable(text).c_str());
    std::fflush(stderr);
    shown_ = text;
  }
  void clear() {
    if (!shown_.empty()) std::fprintf(stderr, "\r\033[K");
    shown_.clear();
  }

 private:
  const bool on_ = ::isatty(STDERR_FILENO) != 0;
  std::string shown_;
};

/// While it exists, SIGINT and SIGTERM print that the work continues before they end this program.
class InterruptNotice {
 public:
  /// `again`: what the command `look` does.
  InterruptNotice(const std::string& id, const char* again, const char* look) {
    text() = "hostler: " + id + " continues; to " + again + ": 'hostler " + look + " " + id +
             "', to end it: 'hostler cancel " + id + "'\n";
    set(&interrupted);
  }
  ~InterruptNotice() { set(SIG_DFL); }
  InterruptNotice(const InterruptNotice&) = delete;
  InterruptNotice& operator=(const InterruptNotice&) = delete;

 private:
  static std::string& text() {
    static std::string notice;
    return notice;
  }
  static void set(void (*handler)(int)) {
    for (const int number : {SIGINT, SIGTERM}) ::signal(number, handler);
  }
  static void interrupted(int number) {
    (void)!::write(STDERR_FILENO, text().data(), text().size());
    ::signal(number, SIG_DFL);
    ::raise(number);
  }
};

std::string describe(json::Value work) {
  std::string out = std::string(work.at("id").text()) + " " + std::string(work.at("state").text());
  if (work.has("instance")) out += " on " + std::string(work.at("instance").text());
  if (work.has("waiting_because")) out += ": " + field(work.at("waiting_because"), "reason");
  return out;
}

/// Polls the work until its state satisfies `is_reached`, or until a signal of EndSignals has come.
/// It polls because the reason why work
/// waits changes without an event.
Result<json::Document> wait_until(Client& client, const std::string& id,
                                  bool (*is_reached)(std::string_view)) {
  Progress progress;
  int failures = 0;
  for (;;) {
    if (EndSignals::came() != 0) return fail(Errc::kConflict, "a signal ends the wait");
    auto work = client.get(work_path(id));
    if (!work) {
      if (!client.may_retry(work.error()) || !pause_before_retry(++failures)) return work;
      continue;
    }
    failures = 0;
    if (is_reached(work->root().at("state").text())) {
      progress.clear();
      return work;
    }
    progress.show(describe(work->root()));
    std::this_thread::sleep_for(100ms);
  }
}

/// Waits for the end of the job, prints the reason if it failed, and sets `status` to its exit
/// status.
Result<json::Document> wait_for_end(Client& client, const std::string& id, int& status) {
  auto job = HOSTLER_TRY(wait_until(client, id, ended));
  status = status_of(job.root());
  const std::string reason(job.root().at("reason").text_or(""));
  const std::string state(job.root().at("state").text());
  const std::string text = reason.starts_with(state) ? reason : state + ": " + reason;
  if (status != 0 && !reason.empty()) warn(id + " " + text);
  return job;
}

/// Waits until the lease is granted, and sets `status` to 0. If it ends before, prints how, and
/// sets `status` to exit_code::kNoStatus.
Result<json::Document> wait_for_host(Client& client, const std::string& id, int& status) {
  auto lease = HOSTLER_TRY(wait_until(client, id, [](std::string_view state) {
    return state == "granted" || state == "ending" || state == "ended";
  }));
  const bool is_granted = lease.root().at("state").text() == "granted";
  status = is_granted ? exit_code::kOk : exit_code::kNoStatus;
  if (!is_granted) warn(id + " has ended: " + how_it_ended(lease.root()));
  return lease;
}

/// Prints where the host of a granted lease is.
void say_host(json::Value lease) {
  const auto host = lease.at("host");
  say(field(lease, "id") + " " + field(lease, "instance") + " " + field(host, "address") + " " +
      field(host, "ssh_port"));
}

void write_all(json::Writer& w, const std::vector<json::Document>& all) {
  w.begin_array();
  for (const auto& one : all) w.value(one.root());
  w.end_array();
}

}  // namespace

int wait_for_job(Client& client, const std::string& id, bool stream_output) {
  const InterruptNotice notice(id, "wait again", "wait");
  int lost = exit_code::kOk;
  if (stream_output) {
    const auto running = wait_until(client, id, [](std::string_view state) {
      return state != "queued" && state != "starting" && state != "held";
    });
    if (!running) return complain(running.error());
    // The two streams are copied at the same time, over one connection each.
    Result<void> err;
    std::thread errors([&client, &id, &err] {
      Client second(client.endpoint());
      err = copy_to_the_end(second, id, "stderr", STDERR_FILENO);
    });
    const auto out = copy_to_the_end(client, id, "stdout", STDOUT_FILENO);
    errors.join();
    for (const auto& copied : {out, err})
      if (!copied) lost = complain(copied.error());
  }
  int status = 0;
  const auto job = wait_for_end(client, id, status);
  if (!job) return complain(job.error());
  return status != 0 ? status : lost;
}

int wait_all(Client& client, const std::vector<std::string>& ids, bool json) {
  int last_bad = 0;
  std::vector<json::Document> jobs, leases;
  for (const auto& id : ids) {
    const InterruptNotice notice(id, "wait again", "wait");
    const bool is_lease = id.starts_with("l-");
    int status = 0;
    auto work = is_lease ? wait_for_host(client, id, status) : wait_for_end(client, id, status);
    if (!work) status = complain(work.error());
    if (status != 0) last_bad = status;
    if (is_lease && !json && status == 0) say_host(work->root());
    if (work) (is_lease ? leases : jobs).push_back(*std::move(work));
  }
  if (!json) return last_bad;
  std::string out;
  json::Writer w(out);
  write_all(w.begin_object().key("jobs"), jobs);
  if (!leases.empty()) write_all(w.key("leases"), leases);
  w.end_object();
  std::puts(out.c_str());
  return last_bad;
}

int wait_for_grant(Client& client, const std::string& id, bool json) {
  const InterruptNotice notice(id, "look at it", "leases");
  return await_grant(client, id, json);
}

int await_grant(Client& client, const std::string& id, bool json) {
  int status = 0;
  const auto lease = wait_for_host(client, id, status);
  if (const int number = EndSignals::came(); !lease && number != 0) return 128 + number;
  if (!lease) return complain(lease.error());
  if (json)
    print_json(lease->root());
  else if (status == exit_code::kOk)
    say_host(lease->root());
  return status;
}

}  // namespace hostler::cli
