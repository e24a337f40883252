#include "tests/unit/dispatch/story.h"

/// Commands that run on hosts.
namespace hostler::dispatch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class HostCommandsTest : public testing::Test {
 protected:
  void SetUp() override {
    story.begin();
    (void)story.submit({story.job(2)});
    id = story.all<CreateCall>().back().instance;
    story.say(CreateSeen{id, story.seen(id)});
    story.create_ended(id);
    story.host(id, model::HostVerified{model::VerifyMethod::kChallenge, "ssh-ed25519 AAAA"});
  }
  void propose() {
    model::HostExec command;
    command.purpose = "a look around";
    command.arguments = {"true"};
    command.limit = 10s;
    story.host(id, model::CommandProposed{command, ++proposals_});
  }
  void end(std::uint64_t number, int status, std::string errors = "") {
    model::CommandEnded ended;
    ended.number = number;
    ended.status = status;
    ended.errors = std::move(errors);
    story.host(id, ended);
  }
  /// What the ledger says of their ends.
  std::vector<std::string> ends() const {
    std::vector<std::string> out;
    for (const auto& one : story.journalled<model::LedgerRecord>())
      if (one.event == model::Event::kCommandEnded)
        out.push_back(one.reason_code + " " + one.reason);
    return out;
  }

  Story story;
  InstanceId id;

 private:
  std::uint64_t proposals_ = 40;
};

TEST_F(HostCommandsTest, ACommandIsSentWithItsStartAndItsEndIsRecorded) {
  propose();
  const auto sent = story.commands<model::RunCommand>();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].instance, id);
  EXPECT_EQ(sent[0].proposal, 41U) << "so that the link runs it on no other connection";
  EXPECT_THAT(story.ledger(), testing::Contains(id.text() + " command_started 1"));
  EXPECT_THAT(ends(), IsEmpty());
  end(1, 0);
  end(1, 0);
  end(7, 0);
  EXPECT_THAT(ends(), ElementsAre("1 a look around: status 0"));
}

TEST_F(HostCommandsTest, AFailureSaysWhatWasPrintedOnOneLine) {
  propose();
  end(1, 3, "no\x1b[2J such\nfile");
  EXPECT_THAT(ends(), ElementsAre("1 a look around: status 3: no\\u001b[2J such file"));
}

TEST_F(HostCommandsTest, WhatTheHostNeverReportsEndsAsNotKnown) {
  propose();
  story.pass(39s);
  EXPECT_THAT(ends(), IsEmpty());
  story.pass(2s);
  ASSERT_THAT(ends(), SizeIs(1));
  EXPECT_THAT(ends()[0], HasSubstr("its end is not known: the host's link gave no answer"));
  end(1, 0);
  EXPECT_THAT(ends(), SizeIs(1)) << "too late";
}

TEST_F(HostCommandsTest, ALostConnectionAndAHostThatIsGivenUpEndTheirCommands) {
  propose();
  story.host(id, model::HostLost{"connection reset"});
  EXPECT_THAT(ends(), ElementsAre(HasSubstr("the connection was lost")));
  propose();
  EXPECT_THAT(story.commands<model::RunCommand>(), SizeIs(1)) << "no connection stands";
  story.host(id, model::HostVerified{model::VerifyMethod::kChallenge, "ssh-ed25519 AAAA"});
  propose();
  EXPECT_THAT(story.commands<model::RunCommand>(), SizeIs(2));
  (void)story.ask(KillInstance{0, "ann", id, ""});
  EXPECT_THAT(ends(), ElementsAre(HasSubstr("1 "), HasSubstr("2 a look around: its end is not")));
}

TEST_F(HostCommandsTest, AHostRunsFewAtOnce) {
  for (int n = 0; n < 10; ++n) propose();
  EXPECT_THAT(story.commands<model::RunCommand>(), SizeIs(4));
  end(2, 0);
  propose();
  EXPECT_THAT(story.commands<model::RunCommand>(), SizeIs(5));
}

}  // namespace
}  // namespace hostler::dispatch
