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

/// Following a job, its progress, output and end, or all that happens. A daemon that restarts is
/// waited for; cursors make sure that nothing is shown twice or left out.
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

std::string bytes_of(json::Value part) {
  if (const auto raw = from_hex(part.at("hex").text_or("")); raw && part.has("hex"))
    return {raw->begin(), raw->end()};
  return std::string(part.at("text").text_or(""));
}

void tell_lost(json::Value part, const char* stream) {
  if (const auto lost = part.at("lost").int_or(0); lost > 0)
    warn(std::to_string(lost) + " bytes of " + stream + " fell out here");
}

/// Where in a job's output one has come to.
struct Cursor {
  std::uint64_t attempt = 0;  ///< 0: of whichever there is.
  std::uint64_t offset = 0;
  bool operator==(const Cursor&) const = default;
};

Query output_query(const std::string& id, const char* stream, const Cursor& from) {
  Query query("/v1/jobs/" + escape(id) + "/output");
  query.add("stream", stream).add("offset", from.offset);
  if (from.attempt != 0) query.add("attempt", from.attempt);
  return query;
}

/// The piece's bytes; says what is odd about them, and moves the cursor behind them.
std::string take_part(json::Value part, const char* stream, Cursor& at) {
  const auto attempt = static_cast<std::uint64_t>(part.at("attempt").int_or(0));
  if (at.attempt != 0 && attempt != at.attempt)
    warn("the " + std::string(stream) + " of attempt " + std::to_string(attempt) + " begins here");
  tell_lost(part, stream);
  std::string bytes = bytes_of(part);
  at = {attempt, static_cast<std::uint64_t>(part.at("offset").int_or(0)) + bytes.size()};
  return bytes;
}

/// Copies one stream from `at` on until it is complete (true) or the connection ends.
Result<bool> copy_stream(Client& client, const std::string& id, const char* stream, int fd,
                         Cursor& at) {
  bool complete = false;
  Result<void> written;
  const auto on_part = [&](std::string_view data) {
    const auto part = json::Document::parse(data, {.bytes_max = std::size_t{8} << 20});
    if (!part) return false;
    written = write_all(fd, take_part(part->root(), stream, at), stream);
    if (!written) return false;
    complete = part->root().at("complete").bool_or(false);
    return !complete;
  };
  HOSTLER_TRY(client.follow(output_query(id, stream, at).add("follow", 1).text(), on_part));
  HOSTLER_TRY(written);
  return complete;
}

/// All of it, through restarts of the daemon.
Result<void> copy_to_the_end(Client& client, const std::string& id, const char* stream, int fd) {
  Cursor at;
  for (int failures = 0;;) {
    const Cursor before = at;
    const auto done = copy_stream(client, id, stream, fd, at);
    if (done && *done) return {};
    if (at != before) failures = 0;
    if (!done && done.error().code != Errc::kUnavailable) return tl::unexpected(done.error());
    if (patience(++failures)) continue;
    if (!done) return tl::unexpected(done.error());
    return fail(Errc::kUnavailable,
                "the " + std::string(stream) + " of " + id + " ends again and again");
  }
}

/// One line that is written over, on a terminal only.
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

/// Until the job runs or has ended. Asks again and again: what a job waits for changes without an
/// event.
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
  if (status != 0 && !reason.empty()) warn(id + " " + said);
  return job;
}

}  // namespace

int wait_for_job(Client& client, const std::string& id, bool stream_output) {
  const Farewell farewell(id);
  int lost = exit_code::kOk;
  if (stream_output) {
    const auto running = wait_until(client, id, [](std::string_view state) {
      return state != "queued" && state != "starting";
    });
    if (!running) return complain(running.error());
    // Standard output lives; standard error follows it from a connection of its own.
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
    if (status != 0) last_bad = status;
  }
  w.end_array().end_object();
  if (json) std::puts(out.c_str());
  return last_bad;
}

int events(Client& client, std::uint64_t after) {
  bool reached = false;
  const auto show = [&](std::string_view data) {
    reached = true;
    if (const auto record = json::Document::parse(data))
      after = static_cast<std::uint64_t>(record->root().at("rev").int_or(0));
    std::printf("%.*s\n", static_cast<int>(data.size()), data.data());
    std::fflush(stdout);
    return true;
  };
  for (int failures = 0;;) {
    const std::uint64_t before = after;
    const auto done = client.follow("/v1/events?after=" + std::to_string(after), show);
    reached = reached || done;
    if (!done && (!reached || done.error().code != Errc::kUnavailable))
      return complain(done.error());
    if (after != before) failures = 0;
    if (!patience(++failures))
      return complain(done ? Error{Errc::kUnavailable, "the events end again and again"}
                           : done.error());
  }
}

int logs(Client& client, const std::string& id, bool standard_error, bool follow) {
  const char* stream = standard_error ? "stderr" : "stdout";
  if (follow) {
    const auto done = copy_to_the_end(client, id, stream, STDOUT_FILENO);
    return done ? exit_code::kOk : complain(done.error());
  }
  for (Cursor at;;) {
    const auto part = client.get(output_query(id, stream, at).add("max", 1U << 20U).text());
    if (!part) return complain(part.error());
    const std::string bytes = take_part(part->root(), stream, at);
    if (const auto written = write_all(STDOUT_FILENO, bytes, "standard output"); !written)
      return complain(written.error());
    if (bytes.empty()) return exit_code::kOk;
  }
}

}  // namespace hostler::cli
