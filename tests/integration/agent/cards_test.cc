#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "core/cards/read_cards.h"
#include "tests/integration/agent/agent_fixture.h"

/// The agent reads the cards of its host with fakes of both tools, each with a script of events.
namespace hostler::agent::test {
namespace {

using testing::HasSubstr;

constexpr const char* kGood =
    "echo '0, GPU-a, 00000000:3B:00.0, NVIDIA A100-SXM4-40GB, 40960, 535.1, 0, [N/A]'\n"
    "echo '1, GPU-b, 00000000:AF:00.0, NVIDIA A100-SXM4-40GB, 40960, 535.1, 0, [N/A]'\n";

class CardsTest : public AgentTest {
 protected:
  CardsTest() { command_.insert(command_.begin(), {"/usr/bin/env", "PATH=" + tools_.string()}); }

  /// From its next call on, the tool does this.
  void script(const std::string& tool, const std::string& event) {
    const auto events = tools_ / (tool + ".events");
    std::filesystem::create_directories(events);
    const auto program = tools_ / tool;
    if (!std::filesystem::exists(program)) std::filesystem::copy_file(HOSTLER_FAKE_SMI, program);
    std::ofstream(events / (std::to_string(calls(tool).size() + 1) + ".sh")) << event;
  }
  std::vector<std::string> calls(const std::string& tool) const {
    std::vector<std::string> out;
    std::ifstream in(tools_ / (tool + ".calls"));
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
  }
  /// The cards that a new connection tells of.
  model::CardReport first_report(const Configure& configure = {}) {
    link_ = connect();
    link_->settings = configure;
    const auto ready = link_->await<Ready>();
    EXPECT_TRUE(ready && ready->cards) << link_->error;
    return cards::read_cards(ready && ready->cards ? *ready->cards : Cards());
  }
  /// Those after new settings.
  model::CardReport next_report(const Configure& configure = {}) {
    EXPECT_TRUE(link_->client.configure(configure));
    const auto told = link_->await<Cards>();
    EXPECT_TRUE(told) << link_->error;
    return cards::read_cards(told.value_or(Cards()));
  }

  const std::filesystem::path tools_ = folder_ / "tools";
  std::unique_ptr<hostler::agent::test::Link> link_;
};

TEST_F(CardsTest, NvidiaSmiIsReadAtEachConnectionAndAfterNewSettings) {
  script("nvidia-smi", kGood);
  const auto first = first_report();
  EXPECT_EQ(first.source, "nvidia-smi");
  ASSERT_EQ(first.cards.size(), 2U) << first.problem;
  EXPECT_EQ(first.cards[1].uuid, "GPU-b");
  script("nvidia-smi",
         "echo 'Unable to determine the device handle for GPU1: 0000:AF:00.0: Unknown Error' >&2\n"
         "echo '0, GPU-a, 00000000:3B:00.0, NVIDIA A100-SXM4-40GB, 40960, 535.1, 3, [N/A]'\n"
         "exit 255\n");
  const auto later = next_report();
  ASSERT_EQ(later.cards.size(), 2U) << later.problem;
  EXPECT_EQ(later.cards[0].problem, "Unknown Error");
  EXPECT_EQ(later.cards[1].problem, "3 uncorrected ECC errors");
  script("nvidia-smi", "echo 'No devices were found'; exit 6");
  EXPECT_TRUE(first_report().cards.empty());
  EXPECT_THAT(calls("nvidia-smi").at(0), HasSubstr("--format=csv,noheader,nounits"));
}

TEST_F(CardsTest, RocmSmiIsReadWhereThereIsNoOther) {
  script(
      "rocm-smi",
      "echo '{\"card0\": {\"Unique ID\": \"0x2150e7d042a1124\", \"PCI Bus\": \"0000:C1:00.0\"}}'");
  const auto report = first_report();
  EXPECT_EQ(report.source, "rocm-smi");
  ASSERT_EQ(report.cards.size(), 1U) << report.problem;
  EXPECT_EQ(report.cards[0].uuid, "GPU-02150e7d042a1124");
  script("nvidia-smi", kGood);
  EXPECT_EQ(next_report().source, "nvidia-smi");
  Configure configure;
  configure.cards_command = "echo '{\"cards\": []}'";
  EXPECT_EQ(next_report(configure).source, "command");
}

TEST_F(CardsTest, AHostWithoutAToolSaysSoAtOnce) { EXPECT_EQ(first_report().source, ""); }

TEST_F(CardsTest, AToolThatHangsHoldsUpNothingButItsReading) {
  script("nvidia-smi", "sleep 1000");
  Configure configure;
  configure.cards_timeout_us = 100'000;
  EXPECT_THAT(first_report(configure).problem, HasSubstr("did not end in time"));
  EXPECT_EQ(run(*link_, AgentTest::script("echo works")).end.exit_code, 0);
  script("nvidia-smi", kGood);
  EXPECT_EQ(next_report().cards.size(), 2U);
}

TEST_F(CardsTest, LiesOfAToolAreReadingsThatFail) {
  struct Lie {
    const char *event, *problem;
  };
  const Lie kLies[] = {
      {"head -c 300000 /dev/zero | tr '\\0' x", "printed"},
      {"head -c 1000 /dev/urandom | tr '\\1-\\177' '\\377'", "not UTF-8"},
      {"echo '0, GPU-a, 00000000:3B:00.0, NVIDIA A1'", "not understood"},
      {"echo '{\"card0\": {}}'", "not understood"},
      {"i=0; while [ $i -lt 1000 ]; do echo \"$i, GPU-$i, 00000000:3B:00.0, T4, 1, 1, 0, No\"; "
       "i=$((i+1)); done",
       "more than 256 cards"},
      {"echo '0, GPU-a, 00000000:3B:00.0, T4, 1, 1, 0, No'; "
       "echo '1, GPU-a, 00000000:3B:00.0, T4, 1, 1, 0, No'",
       "two cards have the UUID GPU-a"},
      {"echo gone >&2; exit 9", "status 9: gone"},
      {"", "printed nothing"},
  };
  script("nvidia-smi", kGood);
  EXPECT_EQ(first_report().problem, "");
  Configure configure;
  configure.cards_timeout_us = 2'000'000;
  for (const Lie& lie : kLies) {
    script("nvidia-smi", lie.event);
    const auto report = next_report(configure);
    EXPECT_THAT(report.problem, HasSubstr(lie.problem)) << lie.event;
    EXPECT_TRUE(report.cards.empty());
  }
}

// Otherwise the daemon could not say which attempts are its own before their ends come.
TEST_F(CardsTest, EndsOfJobsComeAfterTheFirstReading) {
  script("nvidia-smi", kGood);
  (void)first_report();
  const Start start = AgentTest::script("true");
  EXPECT_EQ(run(*link_, start).end.exit_code, 0);
  (void)first_report();
  EXPECT_TRUE(link_->await_exit(start.attempt));
  EXPECT_EQ(link_->error, "");
}

}  // namespace
}  // namespace hostler::agent::test
