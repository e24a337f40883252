#include "core/daemon/ports.h"

#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <utility>

#include "core/agent/protocol.h"
#include "core/api/job_codec.h"
#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/crypto/ssh_keys.h"
#include "core/daemon/console_keys.h"
#include "core/log/log.h"

namespace hostler::daemon {
namespace {

Result<hosts::HostPorts::BlobPiece> read_piece(const store::Store& store, const std::string& sha256,
                                               std::uint64_t offset) {
  const auto file = HOSTLER_TRY(store.blobs().open_blob(sha256));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return tl::unexpected(errno_error("stat blob " + sha256));
  hosts::HostPorts::BlobPiece piece;
  piece.size = static_cast<std::uint64_t>(info.st_size);
  piece.data.resize(agent::kChunkMax);
  const ssize_t got =
      ::pread(file.get(), piece.data.data(), piece.data.size(), static_cast<off_t>(offset));
  if (got < 0) return tl::unexpected(errno_error("read blob " + sha256));
  piece.data.resize(static_cast<std::size_t>(got));
  return piece;
}

/// A driver that knows no host keys may still read the console that has them.
void ask_driver(Clouds& clouds, const std::shared_ptr<ConsoleKeys>& consoles,
                const model::HostTarget& target, const std::string& key,
                std::function<void(Result<bool>)> answer) {
  const auto parsed = crypto::parse_public_key(key);
  if (!parsed) return answer(tl::unexpected(parsed.error()));
  clouds.verify_host_key(target.set, {target.provider_id, parsed->type, parsed->blob},
                         [consoles, target, key = *parsed,
                          answer = std::move(answer)](const model::CloudResult<bool>& vouched) {
                           if (vouched) return answer(*vouched);
                           if (vouched.error().cls == model::CloudErrorClass::kUnsupported)
                             return consoles->ask(target, key, answer);
                           answer(fail(Errc::kUnavailable, vouched.error().message));
                         });
}

/// The name under which an event of a link is counted. Null for events of attempts, which are not.
const char* counted_name(const model::HostEventBody& event) {
  using namespace model;
  if (std::holds_alternative<HostNotYet>(event)) return "not_yet";
  if (std::holds_alternative<HostInitFailed>(event)) return "init_failed";
  if (std::holds_alternative<HostVerified>(event)) return "verified";
  if (std::holds_alternative<HostBooted>(event)) return "booted";
  if (std::holds_alternative<HostKeyAlarm>(event)) return "key_alarm";
  if (std::holds_alternative<HostReady>(event)) return "ready";
  if (std::holds_alternative<HostLost>(event)) return "lost";
  if (std::holds_alternative<HostBroken>(event)) return "broken";
  if (std::holds_alternative<HostInterruption>(event)) return "interruption";
  return nullptr;
}

/// The event has a reading of cards that has failed.
bool has_failed_reading(const model::HostEventBody& event) {
  if (const auto* ready = std::get_if<model::HostReady>(&event))
    return !ready->cards.problem.empty();
  const auto* cards = std::get_if<model::HostCards>(&event);
  return cards != nullptr && !cards->report.problem.empty();
}

std::vector<store::OutputFile> stored_files(const std::vector<agent::OutputFile>& files) {
  std::vector<store::OutputFile> out;
  for (const auto& file : files)
    out.push_back({file.path, file.size, file.mode, printable(file.problem)});
  return out;
}

}  // namespace

hosts::HostPorts make_host_ports(std::function<void(dispatch::Event)> post, store::Store& store,
                                 Clouds& clouds, metrics::Metrics& metrics,
                                 std::shared_ptr<Notifier<model::WorkId>> output) {
  hosts::HostPorts ports;
  ports.post = [&metrics, post](model::HostEvent event) {
    if (const char* const name = counted_name(event.body)) metrics.host_event(name);
    if (has_failed_reading(event.body)) metrics.host_event("cards_unread");
    post(std::move(event));
  };
  ports.jump_host_changed = [post = std::move(post)](const std::string& set,
                                                     const std::string& problem) {
    post(dispatch::JumpHostChanged{set, problem});
  };
  const auto consoles = std::make_shared<ConsoleKeys>(
      std::bind_front(&Clouds::read_console, &clouds), [] { return read_clocks().mono; });
  ports.ask_driver = [&clouds, consoles](const model::HostTarget& target, const std::string& key,
                                         std::function<void(Result<bool>)> answer) {
    ask_driver(clouds, consoles, target, key, std::move(answer));
  };
  ports.append_output = [&store, &metrics, output](
                            model::AttemptId attempt, std::uint32_t stream, std::uint64_t offset,
                            std::string data, std::function<void(Result<std::uint64_t>)> durable) {
    metrics.output_came(data.size());
    store.outputs().append(
        attempt, stream, offset, std::move(data),
        [output, attempt, durable = std::move(durable)](const Result<std::uint64_t>& end) {
          output->notify(attempt.work);
          durable(end);
        });
  };
  ports.output_files = [&store](model::AttemptId attempt,
                                const std::vector<agent::OutputFile>& files,
                                std::function<void(Result<void>)> durable) {
    store.outputs().set_files(attempt, stored_files(files), std::move(durable));
  };
  ports.durable_output = [&store](model::AttemptId attempt) {
    const auto end = [&](std::uint32_t stream) {
      return store.outputs().durable_end(attempt, stream).value_or(0);
    };
    return hosts::DurableOutput{end(store::kStdoutStream), end(store::kStderrStream)};
  };
  ports.kept_output = [&store](model::AttemptId attempt) { return store.outputs().kept(attempt); };
  ports.disk_room = [&store] {
    const auto room = store.output_room();
    return hosts::DiskRoom{room.free, room.total};
  };
  ports.read_blob = [&store](const std::string& sha256, std::uint64_t offset) {
    return read_piece(store, sha256, offset);
  };
  ports.read_job = [](const std::string& body) { return api::read_job(body); };
  ports.count_verification = [&metrics](std::optional<model::VerifyMethod> method, bool alarm) {
    metrics.verification(method, method  ? metrics::VerifyOutcome::kProved
                                 : alarm ? metrics::VerifyOutcome::kKeyAlarm
                                         : metrics::VerifyOutcome::kNotYet);
  };
  return ports;
}

}  // namespace hostler::daemon
