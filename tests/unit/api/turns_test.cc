#include "core/api/turns.h"

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

namespace hostler::api {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class TurnsTest : public testing::Test {
 protected:
  ~TurnsTest() override {
    while (!working.empty()) end(working.begin()->first);
  }
  /// A connection, "a1" of the source "a", asks for a turn.
  void ask(const std::string& name, Turns::Kind kind = Turns::Kind::kStream) {
    turns->ask({kind, share(name.substr(0, 1)), share(name)},
               [this, name](std::shared_ptr<Turns::Turn> turn) {
                 served.push_back(name);
                 working.emplace(name, std::move(turn));
               });
  }
  /// Who works ends it after this time.
  void end(const std::string& name, Duration took = 1ms) {
    now += took;
    // Out of the map first: the end of a turn gives it to the next.
    const auto over = working.extract(name);
    EXPECT_FALSE(over.empty()) << name << " has no turn";
  }
  std::vector<std::string> take_served() { return std::exchange(served, {}); }

  Duration now = 1h;
  std::shared_ptr<Turns> turns = std::make_shared<Turns>([this] { return now; });
  std::vector<std::string> served;
  std::map<std::string, std::shared_ptr<Turns::Turn>> working;

 private:
  std::shared_ptr<Share> share(const std::string& name) {
    auto& out = shares_[name];
    if (out == nullptr) out = std::make_shared<Share>();
    return out;
  }
  std::map<std::string, std::shared_ptr<Share>> shares_;
};

TEST_F(TurnsTest, EachKindHasItsPlaces) {
  for (const char* name : {"a1", "a2", "a3"}) ask(name, Turns::Kind::kRequest);
  for (const char* name : {"b1", "b2", "b3"}) ask(name, Turns::Kind::kLarge);
  for (const char* name : {"c1", "c2"}) ask(name, Turns::Kind::kStream);
  EXPECT_THAT(take_served(), ElementsAre("a1", "a2", "b1", "b2", "c1"));
  end("c1");
  EXPECT_THAT(take_served(), ElementsAre("c2"));
  end("a2");
  EXPECT_THAT(take_served(), ElementsAre("a3"));
}

// Bug: fifty connections that asked again and again came all before one more.
TEST_F(TurnsTest, WhoHasUsedLittleGoesBeforeAllWhoAskAgainAndAgain) {
  const std::vector<std::string> crowd{"a1", "a2", "a3", "a4", "a5"};
  for (const auto& one : crowd) ask(one);
  for (const auto& one : crowd) {
    end(one, 10ms);
    ask(one);
  }
  EXPECT_THAT(take_served(), ElementsAre("a1", "a2", "a3", "a4", "a5", "a1"));
  ask("a6");
  end("a1", 10ms);
  EXPECT_THAT(take_served(), ElementsAre("a6"));
  end("a6", 1ms);
  now += 50ms;  // Its millisecond is the fiftieth of this time.
  ask("a6");
  end("a2", 10ms);
  EXPECT_THAT(take_served(), ElementsAre("a2", "a6")) << "the crowd's next was a2";
}

TEST_F(TurnsTest, NobodyLetsOthersGoBeforeItForLongerThanTwoSeconds) {
  ask("a1");
  end("a1", 10s);
  ask("a2");
  ask("a1");
  take_served();
  now += 2s;
  ask("a3");
  ask("a4");
  end("a2");
  EXPECT_THAT(take_served(), ElementsAre("a1"));
}

TEST_F(TurnsTest, ASourceWithManyConnectionsWaitsForItself) {
  for (const char* one : {"a1", "a2", "a3", "a4"}) ask(one);
  ask("b1");
  end("a1");
  EXPECT_THAT(take_served(), ElementsAre("a1", "b1"));
  ask("b2");
  end("b1");
  end("a2");
  EXPECT_THAT(take_served(), ElementsAre("a2", "b2")) << "in turns";
}

TEST_F(TurnsTest, AfterTheStopNobodyIsServed) {
  ask("a1");
  ask("a2");
  turns->stop();
  end("a1");
  ask("a3");
  EXPECT_THAT(take_served(), ElementsAre("a1"));
}

}  // namespace
}  // namespace hostler::api
