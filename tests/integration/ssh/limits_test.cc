#include <gmock/gmock.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>

#include "core/ssh/transport.h"
#include "core/ssh/tunnel.h"
#include "tests/integration/ssh/loop.h"

/// What a peer can make us keep.
namespace hostler::test {
namespace {

namespace asio = boost::asio;
using ssh::ByteStream;
using ssh::Session;
using testing::HasSubstr;

constexpr std::size_t kFlood = 3'000'000;  ///< More than the window of a channel.

ssh::Channel flooded_channel(Loop& loop, Session& session) {
  ssh::OpenRequest request;
  request.command = "head -c " + std::to_string(kFlood) + " /dev/zero";
  auto channel = loop.get(session.open_channel(request));
  if (!channel) throw std::runtime_error(channel.error().message);
  return std::move(*channel);
}

asio::awaitable<std::string> exchange_keys(std::shared_ptr<ssh::Transport> transport) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  int rc = 0;
  auto step = [&] {
    rc = libssh2_session_handshake(transport->ssh(), transport->descriptor());
    return rc != LIBSSH2_ERROR_EAGAIN;
  };
  const auto waited = co_await transport->until(step, deadline);
  if (waited == ssh::Waited::kDone && rc == 0) co_return "it worked";
  co_return transport->error("key exchange", waited, {}).message;
}

/// How a key exchange ends if libssh2 holds so much.
std::string end_if_kept(std::size_t bytes, std::size_t kept_max) {
  const Sshd sshd;
  Loop loop;
  asio::ip::tcp::socket socket(loop.context());
  socket.connect({asio::ip::make_address(sshd.address()), sshd.port()});
  ByteStream::Socket stream(std::move(socket));
  auto transport =
      std::make_shared<ssh::Transport>(std::move(stream), nullptr, "host 7:22", kept_max);
  // The comment of a known host is kept, whatever the version of libssh2.
  const std::string comment(bytes, 'x');
  const std::unique_ptr<LIBSSH2_KNOWNHOSTS, decltype(&libssh2_knownhost_free)> kept(
      libssh2_knownhost_init(transport->ssh()), libssh2_knownhost_free);
  EXPECT_EQ(
      libssh2_knownhost_addc(kept.get(), "host", nullptr, "key", 3, comment.data(), comment.size(),
                             LIBSSH2_KNOWNHOST_TYPE_PLAIN | LIBSSH2_KNOWNHOST_KEYENC_RAW |
                                 LIBSSH2_KNOWNHOST_KEY_SSHRSA,
                             nullptr),
      0);
  return loop.get(exchange_keys(transport));
}

TEST(SshLimitsTest, AServerThatMakesUsKeepMoreThanItMayLosesTheConnectionAndIsNamed) {
  EXPECT_EQ(end_if_kept(500'000, 1'000'000), "it worked");
  EXPECT_THAT(end_if_kept(2'000'000, 1'000'000),
              HasSubstr("key exchange with host 7:22: it sends what nobody reads: "));
}

TEST(SshLimitsTest, TheFullWindowsOfAllChannelsAreAllowed) {
  const Sshd sshd;
  Loop loop;
  const auto session = login(loop, sshd);
  std::vector<ssh::Channel> unread;
  for (int i = 0; i < 7; ++i) unread.push_back(flooded_channel(loop, *session));

  for (int i = 0; i < 20; ++i) ASSERT_TRUE(loop.get(session->exec(command("true"))));

  std::string chunk(65536, '\0');
  for (auto& channel : unread) {
    std::size_t got = 0;
    for (auto n = loop.get(channel.read(chunk)); n && *n > 0; n = loop.get(channel.read(chunk)))
      got += *n;
    EXPECT_EQ(got, kFlood);
  }
}

TEST(SshLimitsTest, APeerThatTakesNothingOfWhatItIsSentLosesTheConnection) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
  const UniqueFd peer(ends[0]);
  Loop loop;
  ByteStream::Socket socket(loop.context());
  socket.assign(boost::asio::generic::stream_protocol(AF_UNIX, 0), ends[1]);
  ByteStream stream(std::move(socket), nullptr, [] {});
  const std::string answer(1000, 'x');

  // As libssh2 does with its answers to a peer that asks for them and reads none.
  for (int i = 0; i < 5000 && !stream.has_ended(); ++i) {
    stream.send(answer.data(), answer.size());
    stream.flush();
  }

  ASSERT_TRUE(stream.has_ended());
  EXPECT_THAT(stream.end_reason(), HasSubstr("takes too little"));
}

}  // namespace
}  // namespace hostler::test
