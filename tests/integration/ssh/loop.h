#pragma once

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <optional>

#include "core/ssh/session.h"
#include "tests/integration/ssh/sshd.h"

namespace hostler::test {

/// An event loop that runs on the test's thread, inside the functions below.
class Loop {
 public:
  static constexpr auto kPatience = std::chrono::seconds(60);

  /// Runs `task` to its end and returns its result. Throws after a minute.
  template <class T>
  T get(boost::asio::awaitable<T> task) {
    std::optional<T> out;
    spawn(store(std::move(task), out));
    run_until([&out] { return out.has_value(); });
    return std::move(*out);
  }

  void spawn(boost::asio::awaitable<void> task) {
    boost::asio::co_spawn(context_, std::move(task), [](std::exception_ptr thrown) {
      if (thrown) std::rethrow_exception(thrown);
    });
  }

  void run_until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!done()) {
      context_.restart();
      if (context_.run_one_until(deadline) == 0 && !done())
        throw std::runtime_error("no event is left, or the test waited longer than a minute");
    }
  }

  boost::asio::io_context& context() { return context_; }

 private:
  template <class T>
  static boost::asio::awaitable<void> store(boost::asio::awaitable<T> task, std::optional<T>& out) {
    out.emplace(co_await std::move(task));
  }

  boost::asio::io_context context_{1};
};

inline ssh::ConnectRequest connect_to(const Sshd& sshd) {
  ssh::ConnectRequest request;
  request.host = sshd.address();
  request.port = sshd.port();
  return request;
}

inline ssh::Credentials credentials_of(const Sshd& sshd) {
  ssh::Credentials out;
  out.user = Sshd::user();
  out.private_keys = {sshd.user_key()};
  return out;
}

inline ssh::ExecRequest command(std::string text, std::string input = {}) {
  ssh::ExecRequest out;
  out.command = std::move(text);
  out.input = std::move(input);
  return out;
}

/// Returns a session that is logged in. A server that takes up a new key refuses connections for a
/// moment.
inline std::unique_ptr<ssh::Session> login(Loop& loop, const Sshd& sshd) {
  auto session = loop.get(ssh::Session::connect(connect_to(sshd)));
  for (int i = 0; i < 1000 && !session; ++i)
    session = loop.get(ssh::Session::connect(connect_to(sshd)));
  if (!session) throw std::runtime_error(session.error().message);
  const auto done = loop.get((*session)->authenticate(credentials_of(sshd)));
  if (!done) throw std::runtime_error(done.error().message);
  return std::move(*session);
}

}  // namespace hostler::test
