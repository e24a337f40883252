#include "core/daemon/tickets.h"

#include <gmock/gmock.h>

#include <vector>

/// Who waits for the loop hears of it, and who cannot be served hears that at once.
namespace hostler::daemon {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Error kUnknown{Errc::kOutcomeUnknown, "it may yet"};
const Error kRefused{Errc::kUnavailable, "not now"};

class TicketsTest : public testing::Test {
 protected:
  /// One that keeps what it is told: a message, or "done".
  Tickets::Answer listener() {
    return [this](const Result<std::vector<model::WorkId>>& result) {
      heard.push_back(result ? "done" : result.error().message);
    };
  }

  Tickets tickets;
  std::vector<std::string> heard;
};

TEST_F(TicketsTest, EachIsAnsweredOnce) {
  const auto ticket = tickets.add(listener());
  ASSERT_TRUE(ticket);
  tickets.answer({*ticket, {}});
  tickets.answer({*ticket, {}});
  EXPECT_THAT(heard, ElementsAre("done"));
}

// Bug: who came once the failure had been told waited until the store committed: for ever, if need
// be.
TEST_F(TicketsTest, WhoComesWhileTheStoreFailsIsRefusedAtOnce) {
  const auto before = tickets.add(listener());
  tickets.refuse_all(kUnknown, kRefused);
  EXPECT_THAT(heard, ElementsAre("it may yet"));

  EXPECT_FALSE(tickets.add(listener()));
  EXPECT_THAT(heard, ElementsAre("it may yet", "not now"));

  heard.clear();
  tickets.accept_all();
  const auto after = tickets.add(listener());
  ASSERT_TRUE(after);
  EXPECT_NE(*after, *before);
  EXPECT_THAT(heard, IsEmpty());
  tickets.answer({*after, {}});
  EXPECT_THAT(heard, ElementsAre("done"));
}

}  // namespace
}  // namespace hostler::daemon
