#include "core/hosts/boot.h"

#include <algorithm>
#include <utility>

#include "core/ssh/init_command.h"
#include "core/ssh/init_script.h"
#include "core/ssh/init_state.h"

namespace hostler::hosts {

namespace asio = boost::asio;

asio::awaitable<Result<void>> HostBoot::check(ssh::Session& session) {
  auto passed = co_await check_init(session);
  if (passed) passed = co_await probe(session);
  is_over_ = passed.has_value();
  co_return passed;
}

asio::awaitable<Result<void>> HostBoot::check_init(ssh::Session& session) {
  using enum ssh::InitState::Phase;
  if (init_ended_ || !model::runs_at_boot(host_.pool)) co_return Result<void>();
  std::string instance = init_instance();
  const auto state = co_await ssh::read_init_state(session, std::move(instance));
  if (!state) {
    host_.report_not_yet("init", state.error().message);
    co_return tl::unexpected(state.error());
  }
  if (state->phase == kAwaited) deliver();
  const bool waits =
      state->phase == kNotRun || state->phase == kAwaited || state->phase == kRunning;
  if (waits) {
    std::string text = state->describe();
    host_.report_not_yet("init", text);
    co_return fail(Errc::kUnavailable, std::move(text));
  }
  const bool goes_on = host_.pool.init_failure == model::InitFailure::kWarn;
  if (state->failed() && !std::exchange(init_failure_told_, true))
    host_.report(model::HostInitFailed{state->ending(), state->output_end(), goes_on});
  if (state->failed() && !goes_on) co_return fail(Errc::kUnavailable, state->describe());
  init_ended_ = true;
  co_return Result<void>();
}

/// The init script of an adopted host may name it by an id of an earlier store.
std::string HostBoot::init_instance() const {
  const bool is_ours = !host_.target.identity.challenge_secret.empty();
  return is_ours ? host_.target.instance.text() : "";
}

ssh::HostPlace HostBoot::place() const {
  const auto& target = host_.target;
  return {target.instance.text(), target.pool, target.set, target.provider_id};
}

bool HostBoot::begin_command(std::uint64_t proposal) {
  if (!delivery_.begin(proposal, CommandProposal::Clock::now())) return false;
  ++deliveries_;
  return true;
}

void HostBoot::deliver() {
  constexpr unsigned kProposalsMax = 30, kDeliveriesMax = 3;
  const auto now = CommandProposal::Clock::now();
  if (delivery_.stands(now) || deliveries_ == kDeliveriesMax || proposals_ == kProposalsMax) return;
  ++proposals_;
  model::HostExec command;
  command.purpose = "the init command is sent";
  command.arguments = {"sh", "-s"};
  command.input =
      ssh::make_init_delivery(ssh::make_init_command(host_.pool, place()), init_instance());
  command.as_root = true;
  host_.report(model::CommandProposed{std::move(command), delivery_.make(now)});
}

asio::awaitable<Result<void>> HostBoot::probe(ssh::Session& session) {
  const std::string& script = host_.pool.boot_probe;
  if (script.empty() || script == "true") co_return Result<void>();
  ssh::ExecRequest request;
  request.command = "sh -s";
  request.input = ssh::place_variables(place()) + script + "\n";
  request.output_max = 4096;
  const auto ran = co_await session.exec(std::move(request));
  if (!ran) {
    host_.report_not_yet("probe", ran.error().message);
    co_return tl::unexpected(ran.error());
  }
  if (ran->ok()) co_return Result<void>();
  const std::string text = ran->describe();
  host_.report_not_yet("probe", text);
  co_return fail(Errc::kUnavailable, text);
}

asio::awaitable<Result<std::string>> read_boot_id(ssh::Session& session, Duration limit) {
  ssh::ExecRequest request;
  request.command = "cat /proc/sys/kernel/random/boot_id";
  request.output_max = 64;
  request.received_max = 4096;
  request.limit = limit;
  const auto ran = co_await session.exec(std::move(request));
  if (!ran) co_return tl::unexpected(ran.error());
  std::string id = ran->output.substr(0, ran->output.find('\n'));
  const bool is_id = ran->ok() && std::ranges::all_of(id, [](char c) {
                       return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-';
                     });
  if (!is_id) id.clear();
  co_return id;
}

}  // namespace hostler::hosts
