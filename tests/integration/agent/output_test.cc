#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "core/base/text.h"
#include "tests/integration/agent/agent_fixture.h"

namespace hostler::agent::test {
namespace {

using model::EndReason;

class AgentOutputTest : public AgentTest {};

TEST_F(AgentOutputTest, KeepsBeginAndEndOfAStreamAndSaysHowMuchFellOut) {
  auto link = ready_link();
  Start start = script("seq 1000000");
  start.output_head_max = 100'000;
  start.output_tail_max = 50'000;
  std::string all;
  for (int i = 1; i <= 1'000'000; ++i) all += std::to_string(i) + "\n";

  const Exit exit = run(*link, start);
  ASSERT_TRUE(link->await<Collected>()) << link->error;

  EXPECT_EQ(exit.end.stdout_bytes, all.size());
  const auto key = std::pair(start.attempt, kStdout);
  EXPECT_EQ(link->gaps[key], all.size() - 150'000);
  EXPECT_TRUE(link->streams[key] == all.substr(0, 100'000) + all.substr(all.size() - 50'000));
}

// Bug: nothing told that the rest had fallen out, and the attempt was collected for ever.
TEST_F(AgentOutputTest, WhereNoEndIsKeptTheRestFellOut) {
  auto link = ready_link();
  link->auto_durable = false;
  Start start = script("seq 1000000");
  start.output_head_max = 100'000;
  start.output_tail_max = 0;
  const Exit exit = run(*link, start);

  link = ready_link();
  ASSERT_TRUE(link->client.resume(start.attempt, 50'000, 0));
  ASSERT_TRUE(link->await<Collected>()) << link->error;

  const auto key = std::pair(start.attempt, kStdout);
  EXPECT_EQ(link->streams[key].size(), 50'000u);
  EXPECT_EQ(link->gaps[key], exit.end.stdout_bytes - 100'000);
}

TEST_F(AgentOutputTest, SendsOutputWhileTheJobRuns) {
  auto link = ready_link();
  const Start start = script("echo now; while ! [ -e go ]; do sleep 0.01; done; echo then");
  ASSERT_TRUE(link->client.start(start));

  const auto chunk = link->await<Chunk>();
  ASSERT_TRUE(chunk);
  EXPECT_EQ(chunk->data, "now\n");
  std::filesystem::create_directory(folder_ / "state/work/1/go");
  const auto exit = link->await_exit(start.attempt);
  ASSERT_TRUE(exit);
  EXPECT_FALSE(exit->end.output_is_inline);
  EXPECT_EQ(link->all_output(*exit), "now\nthen\n");
}

TEST_F(AgentOutputTest, ExitsOvertakeTheOutputOfAFlood) {
  auto link = ready_link();
  link->auto_durable = false;  // nobody reads what the flood prints
  Start flood = script("head -c 100000000 /dev/zero; sleep 1000");
  const Start quick = command({"/bin/true"});
  ASSERT_TRUE(link->client.start(flood));
  ASSERT_TRUE(link->await<Chunk>());

  const Exit exit = run(*link, quick);

  EXPECT_EQ(exit.end.exit_code, 0);
}

TEST_F(AgentOutputTest, EightFloodsOfAGibibyteLeaveTheServerSmall) {
  auto link = ready_link();
  for (int i = 0; i < 8; ++i) {
    Start flood = command({"/usr/bin/head", "-c", "1073741824", "/dev/zero"});
    flood.output_head_max = flood.output_tail_max = 1 << 20;
    ASSERT_TRUE(link->client.start(flood));
  }
  for (int i = 0; i < 8; ++i) {
    const auto exit = link->await<Exit>();
    ASSERT_TRUE(exit) << link->error;
    EXPECT_EQ(exit->end.stdout_bytes, 1u << 30);
  }

  std::ifstream status("/proc/" + std::to_string(server_pid()) + "/status");
  long peak_kib = 0;
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) peak_kib = std::stol(line.substr(6));
  EXPECT_GT(peak_kib, 0);
  EXPECT_LT(peak_kib, 16 * 1024);
}

TEST_F(AgentOutputTest, PlacesInputsAndCollectsOutputFiles) {
  auto link = ready_link();
  const std::string content(200'000, 'x');
  const std::string sha = "7ffc5b4f8a7d0c1e0b1d6d9ad4c2b0b6d2f9e1a3c4b5d6e7f8091a2b3c4d5e6f";
  ASSERT_TRUE(link->client.blob_query(sha));
  const auto missing = link->await<BlobState>();
  ASSERT_TRUE(missing);
  EXPECT_FALSE(missing->present);
  // Its name is not its hash: the answer says what that is.
  const auto put = [&](const std::string& name) {
    for (std::size_t at = 0; at < content.size(); at += 60'000)
      EXPECT_TRUE(link->client.blob_put({name, content.size(), at, content.substr(at, 60'000)}));
    return link->await<BlobState>().value_or(BlobState{});
  };
  const BlobState refused = put(sha);
  EXPECT_FALSE(refused.present);
  const std::string real = refused.problem.substr(refused.problem.size() - 64);
  EXPECT_TRUE(put(real).present) << refused.problem;

  Start start = script(
      "wc -c < in/data > out.txt; mkdir -p d/e; echo deep > d/e/f; ln -s /etc l;"
      "ln -s /etc/passwd d/p; head -c 300000 in/data in/data > big; chmod 600 big");
  start.inputs = {{"in/data", real, false}, {"in/tool", real, true}};
  start.outputs = {"*.txt", "d", "l", "big", "none*", "none"};
  const Exit exit = run(*link, start);
  EXPECT_EQ(exit.end.exit_code, 0) << exit.end.stderr_inline;
  EXPECT_TRUE(exit.end.has_output_files);
  const auto files = link->await<Files>();
  ASSERT_TRUE(files);
  ASSERT_TRUE(link->await<Collected>()) << link->error;

  std::ostringstream listed;
  for (std::size_t i = 0; i < files->files.size(); ++i) {
    const OutputFile& file = files->files[i];
    listed << file.path << " " << file.problem << " "
           << link->streams[{start.attempt, kFirstFile + i}].size() << "\n";
    if (file.path == "out.txt") {
      EXPECT_EQ((link->streams[{start.attempt, kFirstFile + i}]), "200000\n");
    }
    if (file.path == "big") {
      EXPECT_EQ(file.mode, 0600);
    }
  }
  EXPECT_EQ(listed.str(),
            "big  400033\n"
            "d/e/f  5\n"
            "l it is a symbolic link; links are not followed 0\n"
            "none the file does not exist 0\n"
            "out.txt  7\n");
}

// Bug: the daemon had made sure that the host has the blob, and yet the job failed.
TEST_F(AgentOutputTest, AnInputThatIsNotOnTheHostAnyMoreIsTheHostsFault) {
  auto link = ready_link();
  Start start = command({"/bin/true"});
  start.inputs = {{"a", std::string(64, 'a'), false}};

  ASSERT_TRUE(link->client.start(start));
  const auto refused = link->await<Refused>();

  ASSERT_TRUE(refused) << link->error;
  EXPECT_NE(refused->text.find("No such file"), std::string::npos) << refused->text;
}

TEST_F(AgentOutputTest, InputsWithWrongPathsAreTheJobsFault) {
  auto link = ready_link();
  const std::string sha = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  ASSERT_TRUE(link->client.blob_put({sha, 0, 0, ""}));
  ASSERT_TRUE(link->await<BlobState>());
  for (const char* other : {"a", "a/b", "../b"}) {
    Start start = command({"/bin/true"});
    start.inputs = {{"a", sha, false}, {other, sha, false}};
    EXPECT_EQ(run(*link, start).end.reason, EndReason::kInputFailed) << other;
  }
  Start start = command({"/bin/true"});
  start.inputs = {{std::string(300, 'x'), sha, false}};
  EXPECT_EQ(run(*link, start).end.reason, EndReason::kInputFailed);
}

TEST_F(AgentOutputTest, AFailingCheckIsReportedOnceAndAnInterruptionTold) {
  auto link = connect();
  ASSERT_TRUE(link->await<Ready>());
  Configure configure;
  configure.checks = {{"disk", "echo no disk; exit 3", 100'000, 1'000'000, Check::Kind::kHealthy},
                      {"slow", "sleep 1000", 100'000, 200'000, Check::Kind::kHealthy},
                      {"fine", "true", 100'000, 1'000'000, Check::Kind::kHealthy},
                      {"spot", "echo at noon", 100'000, 1'000'000, Check::Kind::kInterrupted}};
  ASSERT_TRUE(link->client.configure(configure));

  const auto disk = link->await<HostBroken>([](const auto& b) { return b.check == "disk"; });
  const auto slow = link->await<HostBroken>([](const auto& b) { return b.check == "slow"; });
  const auto spot = link->await<SpotNotice>();

  ASSERT_TRUE(disk);
  EXPECT_EQ(disk->text, "exit status 3: no disk ");
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->text, "timeout: ");
  ASSERT_TRUE(spot);
  EXPECT_EQ(spot->text, "at noon");
}

}  // namespace
}  // namespace hostler::agent::test
