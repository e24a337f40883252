#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "core/agent/client.h"

namespace hostler::agent {

inline const model::AttemptId kId{model::WorkId{1}, 1};

/// A client, and the agent's side of its connection.
struct Pair {
  explicit Pair(std::uint64_t window = 1000) : client(window) {}

  template <class Message>
  Result<void> say(const Message& message) {
    std::string bytes;
    EXPECT_TRUE(encode(message, bytes));
    return client.receive(bytes);
  }
  void greet() {
    ASSERT_TRUE(client.receive(kGreeting));
    ASSERT_TRUE(say(Hello{}));
    ASSERT_TRUE(say(Listing{}));
    ASSERT_TRUE(say(Cards{}));
    ASSERT_TRUE(next<Ready>());
  }
  template <class E>
  std::optional<E> next() {
    auto event = client.next();
    if (!event || !std::holds_alternative<E>(*event)) return std::nullopt;
    return std::get<E>(std::move(*event));
  }
  template <class Message>
  std::optional<Message> heard() {
    heard_.feed(client.pending());
    client.sent(client.pending().size());
    auto message = heard_.next();
    if (!message || !*message || !std::holds_alternative<Message>(**message)) return std::nullopt;
    return std::get<Message>(**std::move(message));
  }
  void start() {
    Start start;
    start.attempt = kId;
    start.command = {"x"};
    ASSERT_TRUE(client.start(start));
    ASSERT_TRUE(heard<Start>());
  }

  Client client;
  Decoder<ToAgent> heard_;
};

inline std::string error_of(const Result<void>& result) {
  return result ? std::string("no error") : result.error().message;
}

}  // namespace hostler::agent
