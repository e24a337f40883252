#pragma once

#include <boost/asio.hpp>
#include <memory>
#include <utility>

namespace hostler::async {

/// Lets a coroutine wait for a callback. Calls `start` with a callback and suspends until somebody
/// calls this callback with a value, which is then returned. The callback must be called once and
/// may be called on any thread; the coroutine resumes on its own executor.
template <class Value, class Start>
boost::asio::awaitable<Value> await_callback(Start start) {
  namespace asio = boost::asio;
  auto initiate = [](auto handler, Start begin) {
    auto executor = asio::get_associated_executor(handler);
    auto shared = std::make_shared<decltype(handler)>(std::move(handler));
    begin([shared, executor](Value value) {
      auto held = std::make_shared<Value>(std::move(value));
      asio::post(executor, [shared, held] { (*shared)(std::move(*held)); });
    });
  };
  auto& token = asio::use_awaitable;
  Value value = co_await asio::async_initiate<const asio::use_awaitable_t<>, void(Value)>(
      std::move(initiate), token, std::move(start));
  co_return value;
}

}  // namespace hostler::async
