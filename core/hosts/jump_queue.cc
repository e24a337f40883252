#include "core/hosts/jump_queue.h"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace hostler::hosts {

namespace asio = boost::asio;

namespace {

constexpr auto kLook = std::chrono::milliseconds(250);

}  // namespace

JumpQueue::Turn::Turn(JumpQueue& owner, Line line, Clock::time_point tried)
    : owner_(owner),
      line_(static_cast<std::size_t>(line)),
      waiting_(owner.lines_.at(line_)),
      timer_(owner.io_),
      place_(waiting_.emplace(std::pair(tried, ++owner.last_), this).first) {}

JumpQueue::Turn::~Turn() {  // NOLINT(bugprone-exception-escape)
  waiting_.erase(place_);
  owner_.wake();
}

asio::awaitable<void> JumpQueue::Turn::wait(Clock::time_point until) {
  timer_.expires_at(is_first() ? std::min(until, Clock::now() + kLook) : until);
  boost::system::error_code woken;
  auto token = asio::redirect_error(asio::use_awaitable, woken);
  co_await timer_.async_wait(std::move(token));
}

void JumpQueue::wake() {
  std::array<std::size_t, 4> order{0, 1, 2, 3};
  std::ranges::sort(order, {}, [this](std::size_t line) { return served_.at(line); });
  for (const std::size_t line : order)
    if (const auto& waiting = lines_.at(line); !waiting.empty())
      waiting.begin()->second->timer_.cancel();
}

void JumpQueue::wake_all() {
  for (auto& waiting : lines_)
    for (const auto& [place, turn] : waiting) turn->timer_.cancel();
}

}  // namespace hostler::hosts
