#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "core/ssh/session.h"
#include "tests/integration/ssh/sshd.h"

/// usage: ssh_bench
///
/// What the links' transport carries, against real sshds on this machine: commands per second over
/// 1 and 10 sessions that are held open, with 1 and 8 channels each; sessions per second; bytes and
/// small frames echoed by one channel.
namespace hostler {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

class Bench {
 public:
  void spawn(asio::awaitable<void> task) {
    ++running_;
    asio::co_spawn(context_, std::move(task), [this](const std::exception_ptr& thrown) {
      if (thrown) std::rethrow_exception(thrown);
      --running_;
    });
  }
  /// Seconds until everything spawned has ended; keepalives go on.
  double run() {
    const auto from = Clock::now();
    while (running_ > 0) context_.run_one();
    return std::chrono::duration<double>(Clock::now() - from).count();
  }

 private:
  asio::io_context context_{1};
  int running_ = 0;
};

[[noreturn]] void give_up(const Error& error) {
  std::fprintf(stderr, "ssh_bench: %s\n", error.message.c_str());
  std::exit(1);
}

asio::awaitable<void> log_in(const test::Sshd& sshd, std::unique_ptr<ssh::Session>& out) {
  ssh::ConnectRequest request;
  request.host = sshd.address();
  request.port = sshd.port();
  auto session = co_await ssh::Session::connect(std::move(request));
  if (!session) give_up(session.error());
  ssh::Credentials credentials;
  credentials.user = test::Sshd::user();
  credentials.private_keys = {sshd.user_key()};
  const auto entered = co_await (*session)->authenticate(std::move(credentials));
  if (!entered) give_up(entered.error());
  out = std::move(*session);
}

asio::awaitable<void> run_commands(ssh::Session& session, int count) {
  for (int i = 0; i < count; ++i) {
    ssh::ExecRequest request;
    request.command = "true";
    const auto done = co_await session.exec(std::move(request));
    if (!done) give_up(done.error());
  }
}

asio::awaitable<void> write_pieces(ssh::Channel& channel, std::size_t count, std::size_t size) {
  const std::string piece(size, 'x');
  for (std::size_t i = 0; i < count; ++i) {
    const auto done = co_await channel.write(piece);
    if (!done) give_up(done.error());
  }
  [[maybe_unused]] const auto done = co_await channel.finish();
}

asio::awaitable<void> read_all(ssh::Channel& channel) {
  std::string chunk(65536, '\0');
  for (;;) {
    const auto n = co_await channel.read(chunk);
    if (!n) give_up(n.error());
    if (*n == 0) co_return;
  }
}

asio::awaitable<void> echo(Bench& bench, ssh::Session& session, std::size_t count,
                           std::size_t size) {
  ssh::OpenRequest request;
  request.command = "exec cat";
  auto opened = co_await session.open_channel(std::move(request));
  if (!opened) give_up(opened.error());
  ssh::Channel channel = std::move(*opened);
  bench.spawn(write_pieces(channel, count, size));
  co_await read_all(channel);
}

void commands(Bench& bench, std::vector<std::unique_ptr<ssh::Session>>& sessions, int channels) {
  constexpr int kEach = 200;
  for (auto& session : sessions)
    for (int i = 0; i < channels; ++i) bench.spawn(run_commands(*session, kEach / channels));
  const double seconds = bench.run();
  std::printf("commands: %2zu session(s) x %d channel(s)  %7.0f/s\n", sessions.size(), channels,
              static_cast<double>(sessions.size()) * kEach / seconds);
}

int bench_main() {
  Bench bench;
  std::vector<std::unique_ptr<test::Sshd>> hosts;
  for (int i = 0; i < 10; ++i) hosts.push_back(std::make_unique<test::Sshd>());

  std::vector<std::unique_ptr<ssh::Session>> sessions(10);
  for (std::size_t i = 0; i < 10; ++i) bench.spawn(log_in(*hosts[i], sessions[i]));
  std::printf("sessions: 10 at once, to authenticated %5.0f/s\n", 10 / bench.run());

  std::vector<std::unique_ptr<ssh::Session>> one;
  one.push_back(std::move(sessions.back()));
  sessions.pop_back();
  commands(bench, one, 1);
  commands(bench, one, 8);
  sessions.push_back(std::move(one.back()));
  commands(bench, sessions, 1);
  commands(bench, sessions, 8);

  constexpr std::size_t kBulk = 200'000'000;
  bench.spawn(echo(bench, *sessions[0], kBulk / 50'000, 50'000));
  std::printf("echo: 200 MB in pieces of 50 KB       %7.0f MB/s\n", kBulk / 1e6 / bench.run());
  constexpr std::size_t kFrames = 200'000;
  bench.spawn(echo(bench, *sessions[0], kFrames, 64));
  std::printf("echo: 200,000 frames of 64 bytes      %7.0f frames/s\n", kFrames / bench.run());
  return 0;
}

}  // namespace
}  // namespace hostler

int main() { return hostler::bench_main(); }
