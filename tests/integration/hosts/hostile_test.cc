#include <gmock/gmock.h>

#include "core/agent/protocol.h"
#include "tests/integration/hosts/desk.h"

/// Hosts whose agent is an enemy's.
namespace hostler::test {
namespace {

template <class... Messages>
std::string frames(const Messages&... messages) {
  std::string out;
  (void)(agent::encode(messages, out) && ...);
  return out;
}

/// A program that says `words`, does what the shell script `then` says (with `again`, which says
/// `over_and_over`), and reads nothing.
std::string enemy(const std::string& words, const std::string& then,
                  const std::string& over_and_over = "") {
  const auto tail = [](std::size_t bytes) {
    return "tail -c " + std::to_string(bytes) + " \"$0\"";
  };
  return "#!/bin/sh\nagain() { " + tail(over_and_over.size()) + "; }\n" +
         tail(words.size() + over_and_over.size()) + " | head -c " + std::to_string(words.size()) +
         "\n" + then + "\nexit\n" + words + over_and_over;
}

std::string greeting(const std::vector<agent::Known>& known = {}) {
  return std::string(agent::kGreeting) + frames(agent::Hello{}, agent::Listing{known, true});
}

void install(Desk& desk, std::string program) {
  desk.settings.agent_program = std::move(program);
  desk.settings.agent_sha256 = crypto::sha256_hex(desk.settings.agent_program);
}

agent::Exit exit_of(model::AttemptId attempt) {
  agent::Exit exit;
  exit.attempt = attempt;
  exit.end.output_is_inline = false;
  exit.end.stdout_bytes = 6;
  exit.end.has_output_files = true;
  return exit;
}

// Bug: whatever a host listed it could write the output and the files of, though it ran elsewhere.
TEST(HostileHostTest, WritesNoOutputOfAnothersAttempt) {
  const BootedHost host;
  Desk desk(host);
  const model::AttemptId others{model::JobId{42}, 1};
  const model::AttemptId unheard_of{model::JobId{43}, 1};
  install(desk, enemy(greeting({{others, agent::Phase::kEnded}}) +
                          frames(exit_of(others), exit_of(unheard_of),
                                 agent::Output{others, agent::kStdout, 0, "forged"},
                                 agent::Output{unheard_of, agent::kStdout, 0, "forged"},
                                 agent::Files{others, {{"forged", 0, 0600, ""}}, true},
                                 agent::Files{unheard_of, {{"forged", 0, 0600, ""}}, true},
                                 agent::HostBroken{"all", "is said"}),
                      "exec cat > /dev/null"));
  desk.open();

  desk.connect(host.target());
  EXPECT_EQ(desk.await<model::AttemptExited>().attempt, others) << "the loop knows what to do";
  desk.await<model::HostBroken>();
  desk.close();

  EXPECT_EQ(desk.output(others, agent::kStdout), "");
  EXPECT_EQ(desk.output(unheard_of, agent::kStdout), "");
  EXPECT_THAT(desk.listed(), testing::IsEmpty());
}

}  // namespace
}  // namespace hostler::test
