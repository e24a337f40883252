#include <map>
#include <set>
#include <string>

#include "core/agent/bounds.h"
#include "core/agent/client.h"
#include "tests/fuzz/frames.h"

/// A whole connection to an agent, the daemon's side of it: what a hostile host says, in whatever
/// pieces, while the daemon starts, collects and acknowledges attempts j-1.1 to j-4.1.
///
/// The input is a row of steps: a byte, then what it needs. Steps below 200 say so many bytes.
namespace hostler::fuzz {
namespace {

constexpr std::uint64_t kWindow = 64;

model::AttemptId attempt(std::uint8_t choice) { return {model::WorkId{choice % 4U + 1U}, 1}; }

class Daemon {
 public:
  /// False: the connection is over.
  bool hear(std::string_view bytes) {
    const auto got = client_.receive(bytes);
    take_events();
    check_sent();
    if (!got)
      promise(got.error().code == Errc::kMisbehaving || got.error().code == Errc::kUnavailable,
              "a bad host misbehaves or closes the connection");
    return got.has_value();
  }

  void step(std::uint8_t kind, Bytes& in) {
    const model::AttemptId id = attempt(in.byte());
    const std::uint32_t stream = in.byte() % 4U;
    if (!ready_) return;
    if (kind < 210)
      start(id);
    else if (kind < 220)
      resume(id, in.byte(), in.byte());
    else if (kind < 230)
      client_.durable(id, stream, in.u16());
    else if (kind < 235)
      client_.files_durable(id);
    else if (kind < 240)
      client_.give_up(id, stream);
    else if (kind < 245)
      client_.give_up_files(id);
    else if (kind < 250)
      acknowledge(id);
    else
      (void)client_.kill(id, stream != 0);
    take_events();
    check_sent();
  }

 private:
  struct Streams {
    std::map<std::uint32_t, std::uint64_t> at;  ///< Where the next chunk begins, at least.
    bool exited = false, collected = false;
  };

  void start(model::AttemptId id) {
    agent::Start start;
    start.attempt = id;
    start.command = {"true"};
    promise(client_.start(std::move(start)).has_value(), "a start is sent");
    mine_.try_emplace(id);
  }
  void resume(model::AttemptId id, std::uint64_t out, std::uint64_t err) {
    if (mine_.contains(id)) return;  // once on a connection
    promise(client_.resume(id, out, err).has_value(), "an attempt is resumed");
    mine_[id].at = {{agent::kStdout, out}, {agent::kStderr, err}};
  }
  void acknowledge(model::AttemptId id) {
    const auto found = mine_.find(id);
    if (found == mine_.end() || !found->second.collected) return;
    promise(client_.ack({id}).has_value(), "an attempt is acknowledged");
    mine_.erase(found);
  }

  void take_events() {
    while (auto event = client_.next()) {
      promise(ready_ || std::holds_alternative<agent::Ready>(*event), "ready comes first");
      std::visit([this](const auto& one) { on(one); }, *event);
    }
  }
  void on(const agent::Ready&) {
    promise(!ready_, "ready comes once");
    ready_ = true;
  }
  void on(const agent::Chunk& chunk) {
    const auto found = mine_.find(chunk.attempt);
    promise(found != mine_.end(), "output is of attempts that are ours");
    std::uint64_t& at = found->second.at[chunk.stream];
    promise(chunk.offset >= chunk.gap && chunk.offset - chunk.gap == at, "chunks are in order");
    promise(chunk.data.size() <= kWindow || found->second.exited, "no output past its credit");
    at = chunk.offset + chunk.data.size();
    promise(at <= INT64_MAX, "an offset can be stored");
    promise(!found->second.collected, "nothing comes after all was collected");
  }
  void on(const agent::Exit& exit) {
    const auto found = mine_.find(exit.attempt);
    const model::AttemptEnd& end = exit.end;
    promise(end.stdout_bytes <= agent::kStreamMax && end.stderr_bytes <= agent::kStreamMax,
            "a size can be");
    promise(end.exit_code >= 0 && end.exit_code <= 255 && end.signal >= 0 && end.signal <= 64,
            "a status can be");
    promise(end.cpu_us >= 0 && end.cpu_us <= agent::kCpuMax && end.ram_peak >= 0 &&
                end.ram_peak <= agent::kRamMax,
            "an amount can be");
    promise(end.started.us >= 0 && end.started.us <= agent::kTimeLast && end.ended.us >= 0 &&
                end.ended.us <= agent::kTimeLast,
            "a time can be");
    if (found == mine_.end()) return;
    promise(!found->second.exited, "an attempt ends once");
    found->second.exited = true;
  }
  void on(const agent::Files& files) {
    const auto found = mine_.find(files.attempt);
    promise(found != mine_.end() && found->second.exited, "files come after the end");
    for (const agent::OutputFile& file : files.files)
      promise(file.size <= agent::kStreamMax, "a file's size can be");
  }
  void on(const agent::Collected& collected) {
    const auto found = mine_.find(collected.attempt);
    promise(found != mine_.end() && found->second.exited, "what has ended is collected");
    promise(!found->second.collected, "an attempt is collected once");
    found->second.collected = true;
  }
  void on(const agent::Refused& refused) { mine_.erase(refused.attempt); }
  template <class Other>
  void on(const Other&) {}

  /// Whatever the host says, what we say is well-formed.
  void check_sent() {
    sent_.feed(client_.pending());
    client_.sent(client_.pending().size());
    promise(client_.pending().empty(), "what was sent is gone");
    Heard<agent::ToAgent> said;
    promise(drain(sent_, said) && sent_.buffered() == 0, "the daemon says whole frames");
    for (const agent::ToAgent& message : said.messages)
      if (const auto* credit = std::get_if<agent::Credit>(&message))
        promise(credit->from <= credit->until, "credit does not go back");
  }

  agent::Client client_{kWindow};
  agent::Decoder<agent::ToAgent> sent_;
  std::map<model::AttemptId, Streams> mine_;
  bool ready_ = false;
};

}  // namespace
}  // namespace hostler::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hostler::fuzz::Bytes in(data, size);
  hostler::fuzz::Daemon daemon;
  while (!in.empty()) {
    const std::uint8_t kind = in.byte();
    if (kind >= 200)
      daemon.step(kind, in);
    else if (!daemon.hear(in.take(kind)))
      break;
  }
  return 0;
}
