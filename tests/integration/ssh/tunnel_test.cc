#include <gmock/gmock.h>

#include "core/ssh/session.h"
#include "core/ssh/tunnel.h"
#include "tests/integration/ssh/loop.h"
#include "tests/integration/ssh/silent_port.h"

/// Tunnels through a real sshd to another one.
namespace hostler::test {
namespace {

namespace asio = boost::asio;
using ssh::Session;
using ssh::TunnelRoom;
using testing::HasSubstr;

ssh::TunnelRequest tunnel_to(std::uint16_t port) {
  ssh::TunnelRequest out;
  out.host = "127.0.0.1";
  out.port = port;
  return out;
}

/// Logged in at `host`, behind the server of `jump`.
std::unique_ptr<Session> login_through(Loop& loop, Session& jump, const Sshd& host) {
  auto tunnel = loop.get(jump.open_tunnel(tunnel_to(host.port())));
  if (!tunnel) throw std::runtime_error(tunnel.error().message);
  ssh::ConnectRequest request = connect_to(host);
  request.via = "jump host J";
  auto session = loop.get(Session::connect_through(std::move(*tunnel), request));
  if (!session) throw std::runtime_error(session.error().message);
  const auto done = loop.get((*session)->authenticate(credentials_of(host)));
  if (!done) throw std::runtime_error(done.error().message);
  return std::move(*session);
}

std::string refusal(Loop& loop, Session& jump, const ssh::TunnelRequest& request) {
  const auto tunnel = loop.get(jump.open_tunnel(request));
  return tunnel ? "it worked" : tunnel.error().message;
}

TEST(TunnelTest, CarriesAllBytesOfASessionWithTheHostBehindIt) {
  const Sshd jump, host;
  Loop loop;
  const auto outer = login(loop, jump);
  const auto inner = login_through(loop, *outer, host);
  std::string input(5'000'000, '\0');
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<char>(i * 31 >> 5U);
  auto request = command("cat", input);
  request.output_max = input.size();

  const auto done = loop.get(inner->exec(request));

  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(done->output == input);
  EXPECT_EQ(inner->host_key().line(), host.host_key());
  EXPECT_THAT(inner->address(), HasSubstr(" through jump host J"));
}

TEST(TunnelTest, SaysThatTheServerForbidsIt) {
  Sshd::Options options;
  options.lines = "AllowTcpForwarding no";
  const Sshd jump(options);
  Loop loop;
  const auto outer = login(loop, jump);

  const std::string text = refusal(loop, *outer, tunnel_to(jump.port()));

  EXPECT_THAT(text, HasSubstr("connection to 127.0.0.1:" + std::to_string(jump.port()) +
                              " refused by it (administratively prohibited); check AllowTcp"));
}

TEST(TunnelTest, SaysThatTheHostRefusesTheConnection) {
  Sshd jump, host;
  host.stop();
  Loop loop;
  const auto outer = login(loop, jump);

  EXPECT_THAT(refusal(loop, *outer, tunnel_to(host.port())),
              HasSubstr("refused by it (connect failed); is the host up"));
  EXPECT_EQ(outer->tunnel_room(), TunnelRoom::kFree);
  EXPECT_EQ(outer->tunnels(), 0);
}

// libssh2 opens one channel at a time, and cannot give up an open.
TEST(TunnelTest, IsStuckAfterAHostThatDoesNotAnswerAndItsOtherTunnelsGoOn) {
  const Sshd jump, host;
  const SilentPort silent;
  Loop loop;
  const auto outer = login(loop, jump);
  const auto inner = login_through(loop, *outer, host);
  auto request = tunnel_to(silent.port());
  request.limit = std::chrono::milliseconds(200);

  EXPECT_THAT(refusal(loop, *outer, request), HasSubstr("the host does not answer: no connection"));

  EXPECT_EQ(outer->tunnel_room(), TunnelRoom::kStuck);
  const auto done = loop.get(inner->exec(command("echo still here")));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->output, "still here\n");
}

TEST(TunnelTest, EndsAndNamesTheCauseWhenTheServerIsKilled) {
  Sshd jump;
  const Sshd host;
  Loop loop;
  const auto outer = login(loop, jump);
  const auto inner = login_through(loop, *outer, host);

  jump.stop();
  const auto done = loop.get(inner->exec(command("true")));

  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("through jump host J"));
  EXPECT_THAT(done.error().message, HasSubstr("lost the jump host"));
}

TEST(TunnelTest, SaysThatTheHostClosedTheConnection) {
  const Sshd jump;
  Sshd host;
  Loop loop;
  const auto outer = login(loop, jump);
  const auto inner = login_through(loop, *outer, host);

  host.stop();
  const auto done = loop.get(inner->exec(command("true")));

  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("the peer closed the connection"));
  EXPECT_FALSE(outer->is_lost());
}

TEST(TunnelTest, FreesItsPlaceWhenItsSessionIsGone) {
  const Sshd jump, host;
  Loop loop;
  const auto outer = login(loop, jump);
  auto inner = login_through(loop, *outer, host);
  EXPECT_EQ(outer->tunnels(), 1);

  inner->close();
  inner.reset();
  loop.run_until([&] { return outer->tunnels() == 0; });

  EXPECT_TRUE(loop.get(outer->exec(command("true"))));
}

TEST(TunnelTest, OfAHostThatReadsNothingDelaysNoOther) {
  const Sshd jump, host;
  Loop loop;
  const auto outer = login(loop, jump);
  const auto stopped = login_through(loop, *outer, host);
  const auto other = login_through(loop, *outer, host);
  bool written = false;
  loop.spawn([](Session& session, bool& done) -> asio::awaitable<void> {
    auto request = command("exec sleep 1000", std::string(40'000'000, 'x'));
    const auto ended = co_await session.exec(std::move(request));
    done = ended.has_value();
  }(*stopped, written));

  for (int i = 0; i < 20; ++i) ASSERT_TRUE(loop.get(other->exec(command("true"))));

  EXPECT_FALSE(written);
}

}  // namespace
}  // namespace hostler::test
