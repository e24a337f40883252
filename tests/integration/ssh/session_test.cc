#include "core/ssh/session.h"

#include "tests/integration/ssh/known_leaks.h"
#include "tests/integration/ssh/loop.h"

namespace hostler::test {
namespace {

namespace asio = boost::asio;
using ssh::Session;

TEST(SessionTest, ShowsTheHostKeyBeforeItAuthenticates) {
  const Sshd sshd;
  Loop loop;

  const auto session = loop.get(Session::connect(connect_to(sshd)));

  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ((*session)->host_key().line(), sshd.host_key());
}

TEST(SessionTest, AsksForThePinnedKeyTypeFirstAndElseForEd25519) {
  Sshd::Options options;
  options.host_keys = {"rsa", "ecdsa", "ed25519"};
  const Sshd sshd(options);
  Loop loop;
  ssh::ConnectRequest pinned = connect_to(sshd);
  pinned.key_type = "ecdsa-sha2-nistp256";

  const auto first = loop.get(Session::connect(connect_to(sshd)));
  const auto second = loop.get(Session::connect(pinned));

  EXPECT_EQ((*first)->host_key().type, "ssh-ed25519");
  EXPECT_EQ((*second)->host_key().type, "ecdsa-sha2-nistp256");
}

TEST(SessionTest, RunsACommandWithInputAndKeepsItsStreamsApart) {
  const Sshd sshd;
  Loop loop;
  const auto session = login(loop, sshd);

  const auto done = loop.get(session->exec(command("cat; echo oops >&2; exit 7", "hello")));

  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->output, "hello");
  EXPECT_EQ(done->errors, "oops\n");
  EXPECT_EQ(done->status, 7);
  EXPECT_FALSE(done->truncated);
  EXPECT_EQ(done->describe(), "status 7, it printed 'oops'");
}

TEST(SessionTest, DistinguishesASignalFromAStatus) {
  const Sshd sshd;
  Loop loop;
  const auto session = login(loop, sshd);

  const auto done = loop.get(session->exec(command("kill -TERM $$")));

  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->signal, "TERM");
  EXPECT_FALSE(done->status);
}

TEST(SessionTest, KeepsNoMoreOutputThanItsLimit) {
  const Sshd sshd;
  Loop loop;
  const auto session = login(loop, sshd);
  ssh::ExecRequest flood = command("head -c 5000000 /dev/zero");
  flood.output_max = 1000;

  const auto done = loop.get(session->exec(flood));

  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->output.size(), 1000U);
  EXPECT_TRUE(done->truncated);
  EXPECT_TRUE(done->ok());
}

TEST(SessionTest, CarriesLargeInputAndOutputAtOnce) {
  const Sshd sshd;
  Loop loop;
  const auto session = login(loop, sshd);
  std::string data(std::size_t{8} << 20U, '\0');
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 2654435761U >> 13U);
  ssh::ExecRequest echo = command("cat", data);
  echo.output_max = data.size();

  const auto done = loop.get(session->exec(echo));

  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(done->output == data);
}

TEST(SessionTest, EndsAnExecAtItsLimitAndQuotesItsOutput) {
  const Sshd sshd;
  Loop loop;
  const auto session = login(loop, sshd);
  ssh::ExecRequest slow = command("echo still waiting for disk; exec sleep 1000");
  slow.limit = std::chrono::milliseconds(700);

  const auto done = loop.get(session->exec(slow));

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::kOutcomeUnknown);
  EXPECT_NE(done.error().message.find("still waiting for disk"), std::string::npos);
  EXPECT_TRUE(loop.get(session->exec(command("true"))));
}

TEST(SessionTest, TriesSeveralKeysAndNamesARefusedUser) {
  const Sshd sshd;
  Loop loop;
  const std::string stranger = crypto::make_ed25519_key("").private_key;
  const auto session = *loop.get(Session::connect(connect_to(sshd)));
  const auto other = *loop.get(Session::connect(connect_to(sshd)));
  ssh::Credentials both = credentials_of(sshd);
  both.private_keys.insert(both.private_keys.begin(), stranger);
  ssh::Credentials wrong = credentials_of(sshd);
  wrong.private_keys = {stranger, stranger};

  const auto accepted = loop.get(session->authenticate(both));
  const auto refused = loop.get(other->authenticate(wrong));

  EXPECT_TRUE(accepted) << accepted.error().message;
  ASSERT_FALSE(refused);
  const std::string& text = refused.error().message;
  EXPECT_NE(text.find("'" + Sshd::user() + "'"), std::string::npos) << text;
  EXPECT_NE(text.find("2 key(s)"), std::string::npos) << text;
  EXPECT_NE(text.find("publickey"), std::string::npos) << text;
}

TEST(SessionTest, LogsInWithEcdsa) {
  const LeaksOfLibssh2 ignored;
  Sshd::Options options;
  options.user_key_type = "ecdsa -b 384";
  const Sshd sshd(options);
  Loop loop;

  EXPECT_NO_THROW(login(loop, sshd));
}

asio::awaitable<void> run_many(Session& session, int count, int& ended, int& wrong) {
  for (int i = 0; i < count; ++i) {
    auto request = command("echo " + std::to_string(i), "");
    const auto done = co_await session.exec(std::move(request));
    if (!done || done->output != std::to_string(i) + "\n") ++wrong;
    if (!done) std::cerr << done.error().message << "\n";
  }
  ++ended;
}

TEST(SessionTest, NeverLosesAWakeUpInSixHundredCommandsOnEightChannels) {
  const Sshd sshd;
  Loop loop;
  const auto session = login(loop, sshd);
  int ended = 0;
  int wrong = 0;

  for (int i = 0; i < 8; ++i) loop.spawn(run_many(*session, 75, ended, wrong));
  loop.run_until([&] { return ended == 8; });

  EXPECT_EQ(wrong, 0);
}

TEST(SessionTest, QueuesCommandsBeyondTheServersMaxSessions) {
  Sshd::Options options;
  options.lines = "MaxSessions 10";
  const Sshd sshd(options);
  Loop loop;
  const auto session = login(loop, sshd);
  int ended = 0;
  int wrong = 0;

  for (int i = 0; i < 32; ++i) loop.spawn(run_many(*session, 8, ended, wrong));
  loop.run_until([&] { return ended == 32; });

  EXPECT_EQ(wrong, 0);
}

asio::awaitable<void> write_all(ssh::Channel& channel, std::size_t bytes, std::size_t piece,
                                bool& ok) {
  const std::string data(piece, 'x');
  for (std::size_t sent = 0; sent < bytes; sent += piece) {
    const auto done = co_await channel.write(data);
    if (!done) co_return;
  }
  const auto done = co_await channel.finish();
  ok = done.has_value();
}

asio::awaitable<std::size_t> read_all(ssh::Channel& channel) {
  std::size_t total = 0;
  std::string chunk(65536, '\0');
  for (;;) {
    const auto n = co_await channel.read(chunk);
    if (!n || *n == 0) co_return total;
    total += *n;
  }
}

void echo(const Sshd& sshd, std::size_t bytes, std::size_t piece) {
  Loop loop;
  const auto session = login(loop, sshd);
  ssh::OpenRequest request;
  request.command = "cat";
  auto channel = loop.get(session->open_channel(request));
  ASSERT_TRUE(channel) << channel.error().message;

  bool written = false;
  loop.spawn(write_all(*channel, bytes, piece, written));
  EXPECT_EQ(loop.get(read_all(*channel)), bytes);
  EXPECT_TRUE(written);
}

TEST(SessionTest, EchoesAHundredMegabytesOverAChannel) { echo(Sshd(), 100'000'000, 50'000); }

TEST(SessionTest, EchoesManySmallFramesOverAChannel) { echo(Sshd(), 2'000'000, 40); }

TEST(SessionTest, OutlivesKeyExchangesThatTheServerBegins) {
  const LeaksOfLibssh2 ignored;
  Sshd::Options options;
  options.lines = "RekeyLimit 1M";
  echo(Sshd(options), 20'000'000, 10'000);
}

TEST(SessionTest, KeepsTheStandardErrorOfAChannelsCommand) {
  const Sshd sshd;
  Loop loop;
  const auto session = login(loop, sshd);
  ssh::OpenRequest request;
  request.command = "echo no such agent >&2; exit 3";

  auto channel = loop.get(session->open_channel(request));
  ASSERT_TRUE(channel) << channel.error().message;
  EXPECT_EQ(loop.get(read_all(*channel)), 0U);

  EXPECT_EQ(channel->errors(), "no such agent\n");
}

// sshd frees the slot of a channel only when its command has ended, some time after the close.
Result<ssh::Channel> open_when_free(Loop& loop, Session& session, const ssh::OpenRequest& request) {
  constexpr int kTriesMax = 100'000;
  for (int tries = 1;; ++tries) {
    auto channel = loop.get(session.open_channel(request));
    const bool full =
        !channel && channel.error().message.find("refuses sessions") != std::string::npos;
    if (!full || tries == kTriesMax) return channel;
  }
}

TEST(SessionTest, FreesTheSlotsOfDestroyedChannels) {
  const Sshd sshd;
  Loop loop;
  const auto session = login(loop, sshd);
  ssh::OpenRequest request;
  request.command = "cat";

  for (int i = 0; i < 30; ++i) {
    auto channel = open_when_free(loop, *session, request);
    ASSERT_TRUE(channel) << channel.error().message;
  }
}

TEST(SessionTest, MayBeDestroyedAtAnyMoment) {
  const Sshd sshd;
  for (int turns = 1; turns < 400; turns += 7) {
    Loop loop;
    auto session = login(loop, sshd);
    int ended = 0;
    int wrong = 0;
    for (int i = 0; i < 10; ++i) loop.spawn(run_many(*session, 3, ended, wrong));
    loop.context().restart();
    for (int i = 0; i < turns / 7; ++i) loop.context().run_one_for(std::chrono::seconds(1));
  }
}

TEST(SessionTest, EndsEveryWaiterWhenItIsClosed) {
  const Sshd sshd;
  Loop loop;
  const auto session = login(loop, sshd);
  int ended = 0;
  int wrong = 0;
  loop.spawn([](Session& s, int& e, int& w) -> asio::awaitable<void> {
    auto request = command("sleep 1000");
    const auto done = co_await s.exec(std::move(request));
    w += done.has_value();
    ++e;
  }(*session, ended, wrong));
  loop.context().poll();

  session->close();
  loop.run_until([&] { return ended == 1; });

  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(session->is_lost());
}

}  // namespace
}  // namespace hostler::test
