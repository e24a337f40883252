#include "core/ssh/name_resolver.h"

#include <atomic>
#include <future>
#include <vector>

#include "core/ssh/session.h"
#include "tests/integration/ssh/loop.h"

namespace hostler::test {
namespace {

using ssh::NameResolver;
using std::chrono::milliseconds;
using Addresses = NameResolver::Addresses;

const auto kLoopback = boost::asio::ip::make_address("127.0.0.1");

/// A name server that does not answer before release().
class SilentNames {
 public:
  ~SilentNames() { release(); }

  std::shared_ptr<NameResolver> resolver() {
    return std::make_shared<NameResolver>(
        [state = state_](const std::string&) -> Result<Addresses> {
          ++state->asked;
          state->released.wait();
          return Addresses{kLoopback};
        });
  }
  void release() {
    if (!std::exchange(is_released_, true)) release_.set_value();
  }
  [[nodiscard]] unsigned asked() const { return state_->asked; }

 private:
  /// Threads of lookups may outlive the test.
  struct State {
    explicit State(std::shared_future<void> future) : released(std::move(future)) {}
    std::atomic<unsigned> asked = 0;
    std::shared_future<void> released;
  };
  std::promise<void> release_;
  bool is_released_ = false;
  const std::shared_ptr<State> state_ = std::make_shared<State>(release_.get_future().share());
};

class Answers {
 public:
  void ask(Loop& loop, const std::shared_ptr<NameResolver>& names, Duration limit) {
    loop.spawn(keep(names, limit));
  }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] const std::vector<Result<Addresses>>& all() const { return all_; }

 private:
  boost::asio::awaitable<void> keep(std::shared_ptr<NameResolver> names, Duration limit) {
    std::string name = "host.example";
    auto answer = co_await names->resolve(std::move(name), limit);
    all_.push_back(std::move(answer));
  }
  std::vector<Result<Addresses>> all_;
};

TEST(NameResolverTest, ResolvesANameOfThisMachine) {
  Loop loop;
  NameResolver names;
  const auto found = loop.get(names.resolve("localhost", Loop::kPatience));
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_FALSE(found->empty());
  EXPECT_TRUE(found->front().is_loopback());
}

TEST(NameResolverTest, SaysWhyANameHasNoAddress) {
  Loop loop;
  NameResolver names([](const std::string&) -> Result<Addresses> {
    return fail(Errc::kUnavailable, "Name or service not known");
  });
  EXPECT_EQ(loop.get(names.resolve("no.example", Loop::kPatience)).error().message,
            "resolve 'no.example': Name or service not known");
}

/// Bug: one thread looked up the names of all sets, so that twenty hosts of one set whose name
/// server did not answer stopped all others.
TEST(NameResolverTest, ADeadNameServerOfOneSetDelaysNoOtherSet) {
  Loop loop;
  SilentNames silent;
  const auto of_one_set = silent.resolver();
  Answers answers;
  for (int i = 0; i < 20; ++i) answers.ask(loop, of_one_set, Loop::kPatience);
  NameResolver of_another(
      [](const std::string&) -> Result<Addresses> { return Addresses{kLoopback}; });

  EXPECT_TRUE(loop.get(of_another.resolve("good.example", Loop::kPatience)));
  EXPECT_EQ(answers.size(), 0U);

  silent.release();
  loop.run_until([&] { return answers.size() == 20; });
}

TEST(NameResolverTest, AFewLookupsRunAtOnceAndWhoHasGivenUpIsNotLookedUp) {
  Loop loop;
  SilentNames silent;
  const auto names = silent.resolver();
  Answers impatient;
  for (int i = 0; i < 20; ++i) impatient.ask(loop, names, milliseconds(50));
  loop.run_until([&] { return impatient.size() == 20; });
  for (const auto& answer : impatient.all())
    EXPECT_EQ(answer.error().message,
              "resolve 'host.example': no answer within 50 ms (does a name server answer?)");
  EXPECT_LE(silent.asked(), NameResolver::kThreadsMax);

  silent.release();
  Answers patient;
  patient.ask(loop, names, Loop::kPatience);
  loop.run_until([&] { return patient.size() == 1; });
  EXPECT_TRUE(patient.all().front());
  EXPECT_LE(silent.asked(), NameResolver::kThreadsMax + 1);
}

TEST(NameResolverTest, AConnectionWaitsForANameNoLongerThanItsLimit) {
  Loop loop;
  SilentNames silent;
  ssh::ConnectRequest request;
  request.host = "dead.example";
  request.names = silent.resolver();
  request.resolve_limit = milliseconds(50);
  const auto session = loop.get(ssh::Session::connect(request));
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().message,
            "resolve 'dead.example': no answer within 50 ms (does a name server answer?)");
}

}  // namespace
}  // namespace hostler::test
