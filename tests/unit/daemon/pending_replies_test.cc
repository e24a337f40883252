#include "core/daemon/pending_replies.h"

#include <gmock/gmock.h>

#include <vector>

/// Who waits for the loop hears of it, and who cannot be served hears that at once.
namespace hostler::daemon {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Error kUnknown{Errc::kOutcomeUnknown, "it may yet"};
const Error kRefused{Errc::kUnavailable, "not now"};

class PendingRepliesTest : public testing::Test {
 protected:
  /// One that keeps what it is told: a message, or "done".
  PendingReplies::Answer listener() {
    return [this](const Result<std::vector<model::WorkId>>& result) {
      heard.push_back(result ? "done" : result.error().message);
    };
  }

  PendingReplies replies;
  std::vector<std::string> heard;
};

TEST_F(PendingRepliesTest, EachIsAnsweredOnce) {
  const auto ticket = replies.add(listener());
  ASSERT_TRUE(ticket);
  replies.answer({*ticket, {}});
  replies.answer({*ticket, {}});
  EXPECT_THAT(heard, ElementsAre("done"));
}

// Bug: who came once the failure had been told waited until the store committed: for ever, if need
// be.
TEST_F(PendingRepliesTest, WhoComesWhileTheStoreFailsIsRefusedAtOnce) {
  const auto before = replies.add(listener());
  replies.refuse_all(kUnknown, kRefused);
  EXPECT_THAT(heard, ElementsAre("it may yet"));

  EXPECT_FALSE(replies.add(listener()));
  EXPECT_THAT(heard, ElementsAre("it may yet", "not now"));

  heard.clear();
  replies.accept_all();
  const auto after = replies.add(listener());
  ASSERT_TRUE(after);
  EXPECT_NE(*after, *before);
  EXPECT_THAT(heard, IsEmpty());
  replies.answer({*after, {}});
  EXPECT_THAT(heard, ElementsAre("done"));
}

}  // namespace
}  // namespace hostler::daemon
