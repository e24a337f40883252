#include "core/ssh/init_state.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/crypto/random.h"
#include "core/ssh/scripts.h"

namespace hostler::ssh {
namespace {

constexpr std::size_t kOutputMax = 4096;
constexpr std::size_t kWordsMax = 400;

bool is_end(std::string_view text) {
  const auto status = parse_u64(text);
  return text == "killed" || text == "restarted" || (text.size() <= 3 && status && *status <= 255);
}

std::string bytes_of(std::string_view hex) {
  const auto bytes = from_hex(hex.substr(0, 2 * kOutputMax));
  return bytes ? std::string(bytes->begin(), bytes->end()) : std::string();
}

}  // namespace

std::string InitState::ending() const {
  if (end == "killed") return "its shell killed";
  if (end == "restarted") return "a restart of the machine while it ran";
  return "status " + end;
}

std::string InitState::output_end() const {
  std::string_view text = output;
  const auto is_blank = [](char c) { return c == '\n' || c == '\r' || c == ' '; };
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  if (text.size() > kWordsMax) {
    text.remove_prefix(text.size() - kWordsMax);
    // From the start of a line, if that leaves enough.
    const auto line = text.find('\n');
    if (line < kWordsMax / 2) text.remove_prefix(line + 1);
  }
  std::string shown = printable(text, 12 * kWordsMax);
  if (shown.size() > kWordsMax) shown.erase(0, shown.size() - kWordsMax);  // The end says most.
  while (!shown.empty() && (shown[0] & 0xc0) == 0x80) shown.erase(0, 1);
  return shown;
}

std::string InitState::describe() const {
  const std::string last = output_end();
  const std::string printed = last.empty() ? "it printed nothing" : "it printed '" + last + "'";
  switch (phase) {
    case Phase::kNone:
      return "there is no init command";
    case Phase::kNotRun:
      return "the init script has not run yet";
    case Phase::kAwaited:
      return "the init command is to be sent over the connection";
    case Phase::kRunning:
      return "the init command has not ended yet, " + printed;
    case Phase::kEnded:
      return "the init command ended with " + ending() + ", " + printed;
  }
  return "";
}

ExecRequest init_state_request(std::string_view nonce, std::string_view instance) {
  ExecRequest out;
  out.command =
      instance.empty() ? scripts::command("", {nonce}) : scripts::command("", {nonce, instance});
  out.input = scripts::kInitState;
  out.output_max = 65536;
  out.received_max = std::size_t{1} << 20U;
  return out;
}

Result<InitState> parse_init_state(std::string_view nonce, const ExecResult& result) {
  using enum InitState::Phase;
  const std::string_view answer = scripts::answer(result.output, "hostler-init", nonce);
  const auto words = split(answer, ' ');
  const auto word = [&](std::size_t i) { return i < words.size() ? words[i] : std::string_view(); };
  if (word(0) == "none") return InitState{};
  if (word(0) == "not_run") return InitState{kNotRun, "", ""};
  if (word(0) == "awaits") return InitState{kAwaited, "", ""};
  if (word(0) == "running") return InitState{kRunning, "", bytes_of(word(1))};
  if (word(0) == "ended" && is_end(word(1)))
    return InitState{kEnded, std::string(word(1)), bytes_of(word(2))};
  return fail(Errc::kUnavailable,
              "the host did not tell how its init command ended: " + result.describe());
}

boost::asio::awaitable<Result<InitState>> read_init_state(Session& session, std::string instance) {
  const std::string nonce = crypto::random_hex(16);
  auto request = init_state_request(nonce, instance);
  const auto result = co_await session.exec(std::move(request));
  if (!result) co_return tl::unexpected(Error(result.error()).with_context("init"));
  co_return parse_init_state(nonce, *result);
}

}  // namespace hostler::ssh
