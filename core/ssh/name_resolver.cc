#include "core/ssh/name_resolver.h"

#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstring>
#include <deque>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/files.h"
#include "core/base/mutex.h"
#include "core/base/text.h"
#include "core/base/units.h"

namespace hostler::ssh {
namespace asio = boost::asio;
namespace {

struct FreeAddresses {
  void operator()(addrinfo* first) const { ::freeaddrinfo(first); }
};

Result<NameResolver::Addresses> ask_system(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  if (const int error = ::getaddrinfo(name.c_str(), nullptr, &hints, &first); error != 0)
    return fail(Errc::kUnavailable, ::gai_strerror(error));
  const std::unique_ptr<addrinfo, FreeAddresses> found(first);
  NameResolver::Addresses out;
  for (const addrinfo* one = first; one != nullptr; one = one->ai_next) {
    asio::ip::tcp::endpoint endpoint;
    if (one->ai_addrlen > endpoint.capacity()) continue;
    std::memcpy(endpoint.data(), one->ai_addr, one->ai_addrlen);
    out.push_back(endpoint.address());
  }
  return out;
}

}  // namespace

/// Kept by who asks: what nobody keeps is not looked up any more.
class NameResolver::Question {
 public:
  Question(std::string name, UniqueFd done) : name_(std::move(name)), done_(std::move(done)) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  void give(Result<Addresses> answer) {
    const MutexLock lock(mutex_);
    answer_ = std::move(answer);
    done_.reset();  // the other end of the pipe wakes who asks
  }
  [[nodiscard]] std::optional<Result<Addresses>> answer() {
    const MutexLock lock(mutex_);
    return std::move(answer_);
  }

 private:
  const std::string name_;
  Mutex mutex_;
  UniqueFd done_ HOSTLER_GUARDED_BY(mutex_);
  std::optional<Result<Addresses>> answer_ HOSTLER_GUARDED_BY(mutex_);
};

/// The questions that wait, and the threads that take them, which end when none waits.
class NameResolver::Queue {
 public:
  explicit Queue(LookUp look_up) : look_up_(std::move(look_up)) {}

  static Result<void> add(const std::shared_ptr<Queue>& queue,
                          const std::shared_ptr<Question>& question) {
    const MutexLock lock(queue->mutex_);
    std::erase_if(queue->waiting_, [](const auto& one) { return one.expired(); });
    queue->waiting_.push_back(question);
    if (queue->threads_ == kThreadsMax) return {};
    try {
      std::thread([queue] { queue->run(); }).detach();
      ++queue->threads_;
    } catch (const std::system_error& error) {
      if (queue->threads_ == 0)
        return fail(Errc::kUnavailable, std::string("start a thread: ") + error.what());
    }
    return {};
  }

 private:
  void run() {
    pthread_setname_np(pthread_self(), "names");
    while (const auto question = next()) question->give(look_up_(question->name()));
  }
  std::shared_ptr<Question> next() {
    const MutexLock lock(mutex_);
    while (!waiting_.empty()) {
      auto question = waiting_.front().lock();
      waiting_.pop_front();
      if (question) return question;
    }
    --threads_;
    return nullptr;
  }

  const LookUp look_up_;
  Mutex mutex_;
  std::deque<std::weak_ptr<Question>> waiting_ HOSTLER_GUARDED_BY(mutex_);
  unsigned threads_ HOSTLER_GUARDED_BY(mutex_) = 0;
};

NameResolver::NameResolver() : NameResolver(&ask_system) {}
NameResolver::NameResolver(LookUp look_up) : queue_(std::make_shared<Queue>(std::move(look_up))) {}

asio::awaitable<Result<NameResolver::Addresses>> NameResolver::resolve(std::string name,
                                                                       Duration limit) {
  const std::string doing = "resolve '" + printable(name, 100) + "'";
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
    co_return tl::unexpected(errno_error("make a pipe", Errc::kUnavailable));
  const auto question = std::make_shared<Question>(std::move(name), UniqueFd(ends[1]));
  UniqueFd fd(ends[0]);
  const auto executor = co_await asio::this_coro::executor;
  // The timer shares it: its handler may be queued already when this coroutine is destroyed.
  const auto answered = std::make_shared<asio::posix::stream_descriptor>(executor);
  boost::system::error_code problem;
  answered->assign(fd.get(), problem);
  if (problem) co_return fail(Errc::kUnavailable, "register a pipe: " + problem.message());
  fd.release();
  const auto asked = Queue::add(queue_, question);
  if (!asked) co_return tl::unexpected(Error(asked.error()).with_context(doing));
  asio::steady_timer timer(executor, limit);
  timer.async_wait([answered](const auto& cancelled) {
    boost::system::error_code ignored;
    if (!cancelled) answered->cancel(ignored);
  });
  const auto readable = asio::posix::stream_descriptor::wait_read;
  co_await answered->async_wait(readable, asio::as_tuple(asio::use_awaitable));
  timer.cancel();
  auto answer = question->answer();
  if (!answer)
    co_return fail(Errc::kUnavailable, doing + ": no answer within " + format_duration(limit) +
                                           " (does a name server answer?)");
  if (!*answer) co_return tl::unexpected(Error(answer->error()).with_context(doing));
  co_return *std::move(*answer);
}

}  // namespace hostler::ssh
