#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/agent/client.h"
#include "core/base/files.h"
#include "tests/temp_folder.h"

namespace hostler::agent::test {

inline constexpr std::chrono::seconds kPatience{60};

/// One run of `hostler-agent connect` with a Client on this side of its stdin and stdout.
class Link {
 public:
  /// `argv` is the whole command.
  Link(const std::vector<std::string>& argv, const std::map<std::string, std::string>& env,
       std::uint64_t window);
  ~Link();

  Client client;
  Configure settings;        ///< What the agent is told once it has greeted.
  bool auto_durable = true;  ///< Chunks are durable as soon as they are here.

  /// Moves bytes until an event comes; nullopt when the channel ends, or at the deadline.
  std::optional<Event> next(std::chrono::milliseconds patience = kPatience);
  /// The next event of this type, others are kept in `passed`.
  template <class E>
  std::optional<E> await(const std::function<bool(const E&)>& matches = nullptr) {
    for (auto at = passed.begin(); at != passed.end(); ++at)
      if (auto* event = std::get_if<E>(&*at); event && (!matches || matches(*event))) {
        E out = std::move(*event);
        passed.erase(at);
        return out;
      }
    while (auto event = next()) {
      if (auto* wanted = std::get_if<E>(&*event); wanted && (!matches || matches(*wanted)))
        return std::move(*wanted);
      passed.push_back(std::move(*event));
    }
    return std::nullopt;
  }
  std::optional<Exit> await_exit(model::AttemptId id) {
    return await<Exit>([&](const Exit& exit) { return exit.attempt == id; });
  }
  /// stdout of an ended attempt, however it comes.
  std::string all_output(const Exit& exit);
  /// Writes all that the client has to say.
  void flush();
  /// The channel has ended.
  bool await_end();

  std::deque<Event> passed;
  std::string error;  ///< Of the client, if it found the agent misbehaving.
  std::map<std::pair<model::AttemptId, std::uint32_t>, std::string>
      streams;  ///< Chunks put together.
  std::map<std::pair<model::AttemptId, std::uint32_t>, std::uint64_t> gaps;

 private:
  bool pump(std::chrono::milliseconds patience);

  UniqueFd channel_;
  pid_t pid_ = -1;
  bool is_configured_ = false;
};

/// A state folder of its own with an agent in it. Kills and removes everything at the end.
class AgentTest : public ::testing::Test {
 protected:
  AgentTest();
  ~AgentTest() override;

  std::unique_ptr<Link> connect(std::uint64_t window = 256 << 10);
  /// connect() and Ready, configured.
  std::unique_ptr<Link> ready_link(const Configure& configure = {});
  Start command(std::vector<std::string> argv);
  Start script(std::string text);
  /// Starts it and waits for its exit.
  Exit run(Link& link, const Start& start);
  /// Makes the agent that is started next run as an ordinary user that nobody else is.
  void drop_privileges();
  pid_t server_pid() const;
  pid_t shim_pid_of(const Start& start) const;
  void kill_server();

  hostler::test::TempFolder folder_;
  std::filesystem::path state_;       ///< The agent's folder, as seen from here.
  std::vector<std::string> command_;  ///< What runs `connect`.
  std::string boot_id_ = "boot-1";
  std::map<std::string, std::string> env_;  ///< Of the agent, further variables.
  std::uint64_t last_sequence_ = 0;
  std::uint64_t last_job_ = 0;
};

/// True once `path` exists; waits for it.
bool await_file(const std::filesystem::path& path);
/// True once the folder `path` is empty; waits for it.
bool await_empty(const std::filesystem::path& path);
/// Folders of cgroups of the agents that this test has met.
std::vector<std::filesystem::path> cgroups_here();
/// True once no process has this pid; waits for it.
bool await_gone(pid_t pid);
/// Of this attempt on an agent that this test has met: other tests run beside it.
std::vector<pid_t> processes_of(const Start& start);

}  // namespace hostler::agent::test
