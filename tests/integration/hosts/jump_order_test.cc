#include <gmock/gmock.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <list>

#include "core/hosts/jump_host.h"
#include "tests/integration/ssh/loop.h"
#include "tests/integration/ssh/silent_port.h"

/// Which hosts behind a jump host are reached, and when, while others do not answer.
namespace hostler::test {
namespace {

namespace asio = boost::asio;
using hosts::JumpHost;
using hosts::JumpQueue;
using hosts::Reach;
using Standing = Reach::Standing;

class JumpOrderTest : public testing::Test {
 protected:
  JumpOrderTest() {
    hosts::HostSettings::Proxy proxy;
    proxy.host = jump_sshd.address();
    proxy.port = jump_sshd.port();
    proxy.name = "bastion:22";
    proxy.user = Sshd::user();
    proxy.private_keys = {jump_sshd.user_key()};
    proxy.host_key = jump_sshd.host_key();
    jump = std::make_shared<JumpHost>(loop.context(), proxy, 1, [](const std::string&) {});
  }
  ~JumpOrderTest() override {
    jump->stop();
    loop.run_until([this] { return silent_ended == static_cast<int>(reaches.size()); });
  }

  /// Begins to connect to so many hosts that do not answer, and that had this standing.
  void connect_to_silent(int n, Standing standing) {
    for (int i = 0; i < n; ++i) {
      auto& reach = reaches.emplace_back();
      reach = {.host = "127.0.0.1", .port = silent.port(), .standing = standing, .tried = {}};
      loop.spawn(connect_once(*jump, request_to(silent.port()), reach, silent_ended));
    }
  }
  static ssh::ConnectRequest request_to(std::uint16_t port) {
    ssh::ConnectRequest out;
    out.host = "127.0.0.1";
    out.port = port;
    return out;
  }
  static asio::awaitable<void> connect_once(JumpHost& jump, ssh::ConnectRequest request,
                                            Reach& reach, int& ended) {
    const auto session = co_await jump.connect(std::move(request), reach);
    ended += session ? 0 : 1;
  }
  /// Why the host is not reached; empty: it is.
  std::string problem(const Sshd& with, Reach& reach) {
    const auto session = loop.get(jump->connect(request_to(with.port()), reach));
    return session ? "" : session.error().message;
  }

  const Sshd jump_sshd, host;
  const SilentPort silent;
  Loop loop;
  std::shared_ptr<JumpHost> jump;
  std::list<Reach> reaches;
  int silent_ended = 0;
};

TEST_F(JumpOrderTest, ManyHostsThatFellSilentTogetherDoNotHoldUpANewOne) {
  connect_to_silent(60, Standing::kAnswers);
  Reach reach;
  EXPECT_EQ(problem(host, reach), "");
  EXPECT_EQ(reach.standing, Standing::kAnswers);
  EXPECT_LT(silent_ended, 60);
}

TEST_F(JumpOrderTest, ManySilentHostsDoNotTakeTheTriesOfOthers) {
  connect_to_silent(100, Standing::kSilent);
  Reach unknown,
      back{.host = "127.0.0.1", .port = host.port(), .standing = Standing::kAnswers, .tried = {}};
  EXPECT_EQ(problem(host, unknown), "");
  EXPECT_EQ(problem(host, back), "");
}

TEST_F(JumpOrderTest, NewHostsThatDoNotAnswerDoNotTakeTheTriesOfSilentOnes) {
  connect_to_silent(100, Standing::kNew);
  Reach was_silent{
      .host = "127.0.0.1", .port = host.port(), .standing = Standing::kSilent, .tried = {}};
  EXPECT_EQ(problem(host, was_silent), "");
}

TEST_F(JumpOrderTest, WhatWasSeenAtAnotherAddressOfTheHostIsForgotten) {
  Reach moved{.host = "127.0.0.1",
              .port = silent.port(),
              .standing = Standing::kSilent,
              .tried = Reach{}.tried + std::chrono::hours(1)};
  Sshd gone;
  gone.stop();

  (void)problem(gone, moved);

  EXPECT_EQ(moved.port, gone.port());
  EXPECT_EQ(moved.standing, Standing::kNew) << "it refused the connection at once";
}

// The login of one link is also that of the next ones.
TEST_F(JumpOrderTest, ALinkThatEndsWhileItWaitsForTheLoginLeavesItToTheOthers) {
  asio::cancellation_signal stop;
  Reach first, second;
  int ended = 0;
  bool is_over = false;
  asio::co_spawn(loop.context(), connect_once(*jump, request_to(host.port()), first, ended),
                 asio::bind_cancellation_slot(stop.slot(),
                                              [&](const std::exception_ptr&) { is_over = true; }));
  loop.context().poll_one();
  stop.emit(asio::cancellation_type::terminal);
  loop.run_until([&] { return is_over; });

  EXPECT_EQ(problem(host, second), "");
}

TEST(JumpQueueTest, TheOneThatWasTriedLongestAgoIsFirstThenTheOneThatCameFirst) {
  asio::io_context io;
  JumpQueue queue(io);
  const auto at = [](int hours) { return JumpQueue::Clock::time_point(std::chrono::hours(hours)); };
  using Line = JumpQueue::Line;
  JumpQueue::Turn other_line(queue, Line::kNew, at(0));
  JumpQueue::Turn late(queue, Line::kSilent, at(5));
  EXPECT_TRUE(late.is_first());
  auto first = std::make_unique<JumpQueue::Turn>(queue, Line::kSilent, at(3));
  JumpQueue::Turn second(queue, Line::kSilent, at(3));
  EXPECT_TRUE(first->is_first());
  EXPECT_FALSE(second.is_first() || late.is_first());
  first.reset();
  EXPECT_TRUE(second.is_first() && other_line.is_first());
}

}  // namespace
}  // namespace hostler::test
