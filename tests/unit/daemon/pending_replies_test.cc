#include "core/daemon/pending_replies.h"

#include <gmock/gmock.h>

#include <vector>

/// Requests that wait for the loop are answered once; those that cannot be served, at once.
namespace hostler::daemon {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Error kUnknown{Errc::kOutcomeUnknown, "it may yet"};
const Error kRefused{Errc::kUnavailable, "not now"};

class PendingRepliesTest : public testing::Test {
 protected:
  /// Records its answer: the message of an error, or "done".
  PendingReplies::Answer recorder() {
    return [this](const Result<std::vector<model::WorkId>>& result) {
      answers.push_back(result ? "done" : result.error().message);
    };
  }

  PendingReplies replies;
  std::vector<std::string> answers;
};

TEST_F(PendingRepliesTest, EachRequestIsAnsweredOnce) {
  const auto ticket = replies.add(recorder());
  ASSERT_TRUE(ticket);
  replies.answer(dispatch::Reply{*ticket, {}});
  replies.answer(dispatch::Reply{*ticket, {}});
  EXPECT_THAT(answers, ElementsAre("done"));
}

TEST_F(PendingRepliesTest, APushIsAnsweredWithItsAnswerOrRefusedAsAllAre) {
  std::vector<std::string> told;
  const PendingReplies::PushAnswer tell = [&told](const Result<model::PushAnswer>& result) {
    told.push_back(result ? std::to_string(result->answer) : result.error().message);
  };
  const auto ticket = replies.add(tell);
  ASSERT_TRUE(ticket);
  replies.answer(dispatch::PushReply{*ticket, model::PushAnswer{7, {}, {}, {}}});
  (void)replies.add(tell);
  replies.refuse_all(kUnknown, kRefused);
  EXPECT_FALSE(replies.add(tell));
  EXPECT_THAT(told, ElementsAre("7", "it may yet", "not now"));
}

// Bug: a request that came after the failure was reported waited until the store committed again,
// perhaps for ever.
TEST_F(PendingRepliesTest, ARequestWhileTheStoreFailsIsRefusedAtOnce) {
  const auto before = replies.add(recorder());
  replies.refuse_all(kUnknown, kRefused);
  EXPECT_THAT(answers, ElementsAre("it may yet"));

  EXPECT_FALSE(replies.add(recorder()));
  EXPECT_THAT(answers, ElementsAre("it may yet", "not now"));

  answers.clear();
  replies.accept_all();
  const auto after = replies.add(recorder());
  ASSERT_TRUE(after);
  EXPECT_NE(*after, *before);
  EXPECT_THAT(answers, IsEmpty());
  replies.answer(dispatch::Reply{*after, {}});
  EXPECT_THAT(answers, ElementsAre("done"));
}

}  // namespace
}  // namespace hostler::daemon
