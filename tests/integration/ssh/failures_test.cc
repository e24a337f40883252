#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include "core/base/files.h"
#include "core/ssh/session.h"
#include "tests/integration/ssh/loop.h"

namespace hostler::test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ssh::Session;

/// Accepts one connection and sends `greeting`; then keeps the connection open or closes it.
class FakeServer {
 public:
  FakeServer(Loop& loop, std::string greeting, bool hang_up)
      : acceptor_(loop.context(), tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
        peer_(loop.context()),
        greeting_(std::move(greeting)) {
    acceptor_.async_accept(peer_, [this, hang_up](const auto& problem) {
      if (problem) return;
      if (!greeting_.empty()) asio::write(peer_, asio::buffer(greeting_));
      if (hang_up) peer_.close();
    });
  }
  [[nodiscard]] ssh::ConnectRequest request() const {
    ssh::ConnectRequest out;
    out.host = "127.0.0.1";
    out.port = acceptor_.local_endpoint().port();
    out.key_exchange_limit = std::chrono::milliseconds(300);
    return out;
  }

 private:
  tcp::acceptor acceptor_;
  tcp::socket peer_;
  std::string greeting_;
};

std::string failure(Loop& loop, const ssh::ConnectRequest& request) {
  const auto session = loop.get(Session::connect(request));
  return session ? "it worked" : session.error().message;
}

TEST(SshFailureTest, NamesTheReasonIfNoProgramListens) {
  Loop loop;
  ssh::ConnectRequest request;
  request.host = "127.0.0.1";
  {
    const FakeServer gone(loop, "", false);
    request.port = gone.request().port;
  }
  const std::string text = failure(loop, request);
  EXPECT_NE(text.find("connect to 127.0.0.1:"), std::string::npos) << text;
  EXPECT_NE(text.find("refused"), std::string::npos) << text;
  EXPECT_NE(text.find("is sshd up?"), std::string::npos) << text;
}

TEST(SshFailureTest, ReportsThatASilentServerSentNoBanner) {
  Loop loop;
  const FakeServer server(loop, "", false);
  const std::string text = failure(loop, server.request());
  EXPECT_NE(text.find("key exchange with 127.0.0.1:"), std::string::npos) << text;
  EXPECT_NE(text.find("no answer within 300 ms"), std::string::npos) << text;
  EXPECT_NE(text.find("no SSH banner"), std::string::npos) << text;
}

TEST(SshFailureTest, ReportsThatAServerClosedBeforeItsBanner) {
  Loop loop;
  const FakeServer server(loop, "", true);
  const std::string text = failure(loop, server.request());
  EXPECT_NE(text.find("no SSH banner"), std::string::npos) << text;
}

TEST(SshFailureTest, QuotesTheGreetingOfAServerThatIsNoSshServer) {
  Loop loop;
  const FakeServer server(loop, "HTTP/1.1 400 Bad Request\r\n\r\n", true);
  const std::string text = failure(loop, server.request());
  EXPECT_NE(text.find("no SSH server: it sent 'HTTP/1.1 400 Bad Request"), std::string::npos)
      << text;
}

TEST(SshFailureTest, EndsTheConnectionAfterTooManyBytesBeforeLogin) {
  Loop loop;
  std::string flood;
  while (flood.size() < 600'000) flood += "hello\r\n";
  const FakeServer server(loop, flood, false);
  const std::string text = failure(loop, server.request());
  EXPECT_NE(text.find("too much before authentication"), std::string::npos) << text;
}

TEST(SshFailureTest, ReportsADamagedKeyExchange) {
  Loop loop;
  for (const std::string& packet :
       {std::string("\0\0\0\x0c\x0a\x14garbage!!!", 16), std::string("\xff\xff\xff\xff\0\0\0\0", 8),
        std::string("\0\0\0\0\0\0\0\0\0\0", 10), std::string(100, '\x14')}) {
    const FakeServer server(loop, "SSH-2.0-Broken\r\n" + packet, false);
    const std::string text = failure(loop, server.request());
    EXPECT_NE(text.find("key exchange with"), std::string::npos) << text;
  }
}

TEST(SshFailureTest, NamesTheKeyTypesOfAServerThatHasRsaKeysOnly) {
  Sshd::Options options;
  options.host_keys = {"rsa"};
  const Sshd sshd(options);
  Loop loop;
  const std::string text = failure(loop, connect_to(sshd));
  EXPECT_NE(text.find("rsa-sha2-512"), std::string::npos) << text;
  EXPECT_NE(text.find("needs ed25519 or ecdsa"), std::string::npos) << text;
}

TEST(SshFailureTest, ReportsThatTheServerRefusesSessions) {
  Sshd::Options options;
  options.lines = "MaxSessions 0";
  const Sshd sshd(options);
  Loop loop;
  const auto session = login(loop, sshd);
  const auto done = loop.get(session->exec(command("true")));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::kUnavailable);
  EXPECT_NE(done.error().message.find("refuses sessions"), std::string::npos)
      << done.error().message;
}

TEST(SshFailureTest, EndsAnExecWhoseServerIsKilled) {
  Sshd sshd;
  Loop loop;
  const auto session = login(loop, sshd);
  std::optional<Result<ssh::ExecResult>> done;
  loop.spawn([](Session& s, auto& out) -> asio::awaitable<void> {
    auto request = command("echo started; exec sleep 1000");
    out.emplace(co_await s.exec(std::move(request)));
  }(*session, done));
  ASSERT_TRUE(loop.get(session->exec(command("true"))));

  sshd.stop();
  loop.run_until([&] { return done.has_value(); });

  ASSERT_FALSE(*done);
  EXPECT_EQ(done->error().code, Errc::kOutcomeUnknown);
  EXPECT_TRUE(session->is_lost());
}

TEST(SshFailureTest, EndsAnExecOnASessionThatHasDropped) {
  Sshd sshd;
  Loop loop;
  const auto session = login(loop, sshd);
  sshd.stop();

  const auto first = loop.get(session->exec(command("true")));
  const auto second = loop.get(session->exec(command("true")));

  ASSERT_FALSE(first);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::kUnavailable);
}

TEST(SshFailureTest, ReadsBytesThatArrivedBeforeTheEndOfAChannel) {
  Sshd sshd;
  Loop loop;
  const auto session = login(loop, sshd);
  ssh::OpenRequest request;
  request.command = "cat";
  auto channel = loop.get(session->open_channel(request));
  ASSERT_TRUE(channel);
  ASSERT_TRUE(loop.get(channel->write("last words")));
  // The server sent the echo before it ended this other command.
  std::string chunk(100, '\0');
  ASSERT_TRUE(loop.get(session->exec(command("true"))));

  const auto n = loop.get(channel->read(chunk));
  sshd.stop();
  const auto end = loop.get(channel->read(chunk));

  ASSERT_TRUE(n);
  EXPECT_EQ(chunk.substr(0, *n), "last words");
  EXPECT_FALSE(end);
}

}  // namespace
}  // namespace hostler::test
