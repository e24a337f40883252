#include "core/cli/follow.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/cli/commands.h"

namespace hostler::cli {
namespace {

using namespace std::chrono_literals;

std::string bytes_of(json::Value part) {
  if (const auto raw = from_hex(part.at("hex").text_or("")); raw && part.has("hex"))
    return {raw->begin(), raw->end()};
  return std::string(part.at("text").text_or(""));
}

void warn_of_loss(json::Value part, const char* stream) {
  if (const auto lost = part.at("lost").int_or(0); lost > 0)
    warn(std::to_string(lost) + " bytes of " + stream +
         " are missing here: the host kept only the first and last part");
}

/// Position in a job's output.
struct Cursor {
  std::uint64_t attempt = 0;  ///< 0: the first attempt that has output.
  std::uint64_t offset = 0;
  bool operator==(const Cursor&) const = default;
};

Query output_query(const std::string& id, const char* stream, const Cursor& from) {
  Query query("/v1/jobs/" + escape(id) + "/output");
  query.add("stream", stream).add("offset", from.offset);
  if (from.attempt != 0) query.add("attempt", from.attempt);
  return query;
}

/// Returns the bytes of a piece and moves the cursor behind them. Warns of lost bytes and of a
/// change of attempts.
std::string take_part(json::Value part, const char* stream, Cursor& at) {
  const auto attempt = static_cast<std::uint64_t>(part.at("attempt").int_or(0));
  if (at.attempt != 0 && attempt != at.attempt)
    warn("the " + std::string(stream) + " of attempt " + std::to_string(attempt) + " begins here");
  warn_of_loss(part, stream);
  std::string bytes = bytes_of(part);
  at = {attempt, static_cast<std::uint64_t>(part.at("offset").int_or(0)) + bytes.size()};
  return bytes;
}

/// Copies one stream from the position `at`. True: the stream has ended. False: the connection
/// ended before.
Result<bool> copy_stream(Client& client, const std::string& id, const char* stream, int fd,
                         Cursor& at) {
  bool ended = false;
  Result<void> written;
  const auto on_part = [&](std::string_view data) {
    const auto part = json::Document::parse(data, {.bytes_max = std::size_t{8} << 20});
    if (!part) return false;
    written = write_all(fd, take_part(part->root(), stream, at), stream);
    if (!written) return false;
    ended = part->root().at("ended").bool_or(false);
    return !ended;
  };
  HOSTLER_TRY(client.follow(output_query(id, stream, at).add("follow", 1).text(), on_part));
  HOSTLER_TRY(written);
  return ended;
}

}  // namespace

bool pause_before_retry(int failures) {
  if (failures > 60) return false;
  std::this_thread::sleep_for(failures < 5 ? 200ms : 1s);
  return true;
}

Result<void> copy_to_the_end(Client& client, const std::string& id, const char* stream, int fd) {
  Cursor at;
  for (int failures = 0;;) {
    const Cursor before = at;
    const auto done = copy_stream(client, id, stream, fd, at);
    if (done && *done) return {};
    if (at != before) failures = 0;
    if (!done && !client.may_retry(done.error())) return tl::unexpected(done.error());
    if (pause_before_retry(++failures)) continue;
    if (!done) return tl::unexpected(done.error());
    return fail(Errc::kUnavailable,
                "the " + std::string(stream) + " of " + id + " ended too early again and again");
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

int events(Client& client, std::uint64_t after) {
  bool reached = false;
  std::optional<Error> broken;
  const auto show = [&](std::string_view data) {
    reached = true;
    const auto record = json::Document::parse(data);
    if (!record) {
      broken = Error{Errc::kMisbehaving, "an event of the daemon is " + record.error().message};
      return false;
    }
    after = static_cast<std::uint64_t>(record->root().at("rev").int_or(0));
    std::printf("%.*s\n", static_cast<int>(data.size()), data.data());
    if (std::fflush(stdout) != 0) broken = errno_error("write the events", Errc::kInternal);
    return !broken;
  };
  for (int failures = 0;;) {
    const std::uint64_t before = after;
    const auto done = client.follow("/v1/events?after=" + std::to_string(after), show);
    reached = reached || done;
    if (broken) return complain(*broken);
    if (!done && (!reached || !client.may_retry(done.error()))) return complain(done.error());
    if (after != before) failures = 0;
    if (!pause_before_retry(++failures))
      return complain(done ? Error{Errc::kUnavailable, "the event stream ended again and again"}
                           : done.error());
  }
}

}  // namespace hostler::cli
