#pragma once

#include <boost/asio.hpp>
#include <memory>
#include <utility>

namespace hostler::api {

namespace asio = boost::asio;

/// Suspends until what `start` is given has been called with a value, from whatever thread, once;
/// goes on on the executor of who awaits. Also of the daemon's links: api is the lowest with asio.
template <class Value, class Start>
asio::awaitable<Value> called_back(Start start) {
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

}  // namespace hostler::api
