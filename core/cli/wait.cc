#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/cli/commands.h"
#include "core/json/writer.h"

/// Following a job: progress, output, end. A daemon that restarts is waited for; cursors make sure
/// that nothing is shown twice or left out.
namespace hostler::cli {
namespace {

using namespace std::chrono_literals;

bool ended(std::string_view state) {
  return state == "succeeded" || state == "failed" || state == "cancelled";
}

/// Pause after the n-th failure in a row to reach the daemon; false when it was long enough.
bool patience(int failures) {
  if (failures > 60) return false;
  std::this_thread::sleep_for(failures < 5 ? 200ms : 1s);
  return true;
}

/// Never 0 for a job that did not succeed: its command may have, and its output be lost.
int status_of(json::Value job) {
  const auto status = static_cast<int>(job.at("exit_status").int_or(exit_code::kNoStatus));
  return status == 0 && job.at("state").text() != "succeeded" ? exit_code::kNoStatus : status;
}

/// Copies one stream from `offset` on until it is complete or the connection ends.
Result<bool> copy_stream(Client& client, const std::string& id, const char* stream, int fd,
                         std::uint64_t& offset) {
  bool complete = false;
  const auto followed = client.follow(
      "/v1/jobs/" + escape(id) + "/output?follow=1&stream=" + stream +
          "&offset=" + std::to_string(offset),
      [&](std::string_view data) {
        const auto part = json::Document::parse(data, {.bytes_max = std::size_t{8} << 20});
        if (!part) return false;
        const auto root = part->root();
        if (const auto lost = root.at("lost").int_or(0); lost > 0)
          std::fprintf(stderr, "hostler: %lld bytes of %s fell out here\n",
                       static_cast<long long>(lost), stream);
        std::string bytes(root.at("text").text_or(""));
        if (root.has("hex")) {
          const auto raw = from_hex(root.at("hex").text());
          if (raw) bytes.assign(raw->begin(), raw->end());
        }
        if (!write_all(fd, bytes, stream)) return false;
        offset = static_cast<std::uint64_t>(root.at("offset").int_or(0)) + bytes.size();
        complete = root.at("complete").bool_or(false);
        return !complete;
      });
  if (!followed && followed.error().code != Errc::kUnavailable)
    return tl::unexpected(followed.error());
  return complete;
}

/// One line that is written over, on a terminal only.
class Progress {
 public:
  void show(const std::string& text) {
    if (!on_ || text == shown_) return;
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
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

/// Who interrupts the wait is told that the job goes on, and under which name.
class Farewell {
 public:
  explicit Farewell(const std::string& id) {
    text() = "hostler: " + id + " goes on; 'hostler wait " + id +
             "' waits again, 'hostler cancel " + id + "' ends it\n";
    set(&interrupted);
  }
  ~Farewell() { set(SIG_DFL); }
  Farewell(const Farewell&) = delete;
  Farewell& operator=(const Farewell&) = delete;

 private:
  static std::string& text() {
    static std::string said;
    return said;
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

std::string describe(json::Value job) {
  std::string out = std::string(job.at("id").text()) + " " + std::string(job.at("state").text());
  if (job.has("instance")) out += " on " + std::string(job.at("instance").text());
  if (job.has("waiting_because")) out += ": " + std::string(job.at("waiting_because").text_or(""));
  return out;
}

/// Until the job runs or has ended. Woken by the event stream, so nothing is asked in vain.
Result<json::Document> wait_until(Client& client, const std::string& id,
                                  bool (*enough)(std::string_view)) {
  Progress progress;
  int failures = 0;
  for (;;) {
    auto job = client.get("/v1/jobs/" + escape(id));
    if (!job) {
      if (job.error().code != Errc::kUnavailable || !patience(++failures)) return job;
      continue;
    }
    failures = 0;
    if (enough(job->root().at("state").text())) {
      progress.clear();
      return job;
    }
    progress.show(describe(job->root()));
    std::this_thread::sleep_for(100ms);
  }
}

/// Waits for the end, says what went wrong, and gives the status.
Result<json::Document> wait_for_end(Client& client, const std::string& id, int& status) {
  auto job = HOSTLER_TRY(wait_until(client, id, ended));
  status = status_of(job.root());
  const std::string reason(job.root().at("reason").text_or(""));
  const std::string state(job.root().at("state").text());
  const std::string said = reason.starts_with(state) ? reason : state + ": " + reason;
  if (status != 0 && !reason.empty())
    std::fprintf(stderr, "hostler: %s %s\n", id.c_str(), said.c_str());
  return job;
}

}  // namespace

int wait_for_job(Client& client, const std::string& id, bool stream_output) {
  const Farewell farewell(id);
  if (stream_output) {
    const auto running = wait_until(client, id, [](std::string_view state) {
      return state != "queued" && state != "starting";
    });
    if (!running) return complain(running.error());
    std::uint64_t out = 0;
    std::uint64_t err = 0;
    // Standard output lives; standard error follows it from a connection of its own.
    std::thread errors([&client, &id, &err] {
      Client second(client.endpoint());
      for (int failures = 0;;) {
        const auto done = copy_stream(second, id, "stderr", STDERR_FILENO, err);
        if (!done || *done || !patience(++failures)) return;
      }
    });
    for (int failures = 0;;) {
      const auto done = copy_stream(client, id, "stdout", STDOUT_FILENO, out);
      if (!done || *done || !patience(++failures)) break;
    }
    errors.join();
  }
  int status = 0;
  const auto job = wait_for_end(client, id, status);
  return job ? status : complain(job.error());
}

int wait_all(Client& client, const std::vector<std::string>& ids, bool json) {
  int worst = 0;
  std::string out;
  json::Writer w(out);
  w.begin_object().key("jobs").begin_array();
  for (const auto& id : ids) {
    const Farewell farewell(id);
    int status = 0;
    const auto job = wait_for_end(client, id, status);
    if (job)
      w.value(job->root());
    else
      status = complain(job.error());
    if (status != 0) worst = status;
  }
  w.end_array().end_object();
  if (json) std::puts(out.c_str());
  return worst;
}

int logs(Client& client, const std::string& id, bool standard_error, bool follow) {
  const char* stream = standard_error ? "stderr" : "stdout";
  std::uint64_t offset = 0;
  if (follow) {
    for (int failures = 0;;) {
      const auto done = copy_stream(client, id, stream, STDOUT_FILENO, offset);
      if (!done) return complain(done.error());
      if (*done || !patience(++failures)) return exit_code::kOk;
    }
  }
  for (;;) {
    const auto part = client.get("/v1/jobs/" + escape(id) + "/output?max=1048576&stream=" + stream +
                                 "&offset=" + std::to_string(offset));
    if (!part) return complain(part.error());
    std::string bytes(part->root().at("text").text_or(""));
    if (part->root().has("hex"))
      if (const auto raw = from_hex(part->root().at("hex").text()))
        bytes.assign(raw->begin(), raw->end());
    if (const auto lost = part->root().at("lost").int_or(0); lost > 0)
      std::fprintf(stderr, "hostler: %lld bytes fell out here\n", static_cast<long long>(lost));
    if (!write_all(STDOUT_FILENO, bytes, "standard output")) return exit_code::kFailed;
    offset = static_cast<std::uint64_t>(part->root().at("offset").int_or(0)) + bytes.size();
    if (bytes.empty()) return exit_code::kOk;
  }
}

}  // namespace hostler::cli
