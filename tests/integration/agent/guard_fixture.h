#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/agent/host/system/device_guard.h"
#include "tests/integration/agent/agent_fixture.h"

namespace hostler::agent::test {

using model::CardGuard;
using model::EndReason;

inline constexpr unsigned kMinors[] = {5, 7, 8, 9};  ///< zero, full, random, urandom.

/// The best guard of this machine, if nothing better is tried than this.
inline CardGuard guard_here(CardGuard most) {
  const hostler::test::WorkingFolder state;
  SlotCgroups cgroups;
  cgroups.open("hostler-test-" + std::to_string(::getpid()), false);
  DeviceGuard guard(cgroups);
  guard.open(most);
  cgroups.remove_idle({});
  return guard.kind();
}

/// Cards are character devices in the test's own folder, with numbers of devices that each kernel
/// has.
class GuardTest : public AgentTest {
 protected:
  void use(CardGuard guard) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    if (guard_here(guard) != guard)
      GTEST_SKIP() << "this machine has no guard of kind " << model::to_string(guard);
    env_["HOSTLER_CARD_GUARD"] = model::to_string(guard);
    std::filesystem::create_directory(folder_ / "cards");
    for (std::size_t i = 0; i < std::size(kMinors); ++i) {
      ASSERT_EQ(::mknod(card(i).c_str(), S_IFCHR | 0666, makedev(1, kMinors[i])), 0);
      ASSERT_EQ(::chmod(card(i).c_str(), 0666), 0);
    }
  }
  std::string card(std::size_t i) { return folder_ / ("cards/" + std::to_string(i)); }
  static std::string name(std::size_t i) { return "GPU-" + std::to_string(i); }
  /// All cards below `count`.
  Guard cards(std::size_t count) {
    Guard out;
    for (std::size_t i = 0; i < count; ++i) out.files.push_back(card(i));
    return out;
  }
  static Configure with_uids() {
    Configure out;
    out.uid_first = 700'000;
    out.uid_count = 100;
    return out;
  }
  /// A link after the messages that a daemon sends before the first Start.
  std::unique_ptr<Link> link_with_cards(std::size_t count) {
    auto link = ready_link(with_uids());
    EXPECT_TRUE(link->client.guard(cards(count)));
    return link;
  }
  /// Prints the number of each card that it can open by its path, once the file `go` is there.
  Start look(std::vector<std::size_t> own, const std::string& more = "") {
    Start out = script(": > on; while ! [ -e " + go() + " ]; do sleep 0.02; done; cd " +
                       (folder_ / "cards").string() +
                       "; for f in *; do (exec 3<$f) 2>/dev/null && echo $f; done; " + more);
    for (const std::size_t i : own) {
      out.cards.push_back(name(i));
      out.files.push_back(card(i));
    }
    return out;
  }
  std::string go() { return folder_ / "go"; }
  void let_go() { std::filesystem::create_directory(go()); }
  /// Starts it and waits until it runs.
  void start(Link& link, const Start& start, std::size_t slot) {
    ASSERT_TRUE(link.client.start(start));
    link.flush();
    ASSERT_TRUE(await_file(state_ / ("work/" + std::to_string(slot) + "/on")));
  }
  static std::string seen(Link& link, const Start& start) {
    const auto exit = link.await_exit(start.attempt);
    EXPECT_TRUE(exit);
    if (!exit) return "";
    EXPECT_EQ(exit->end.reason, EndReason::kExit) << exit->end.text;
    EXPECT_FALSE(exit->end.limits_enforced) << "a cgroup for the guard is no limit";
    return link.all_output(*exit);
  }
  static std::optional<Refused> refusal(Link& link, const Start& start) {
    EXPECT_TRUE(link.client.start(start));
    return link.await<Refused>();
  }
  /// Owner and mode of a card's file.
  std::string owner(std::size_t i) {
    struct stat info {};
    if (::stat(card(i).c_str(), &info) != 0) return "gone";
    char mode[8];
    (void)std::snprintf(mode, sizeof mode, "%o", info.st_mode & 0777U);
    return std::to_string(info.st_uid) + " " + mode;
  }
  /// All that was said so far has been done.
  static void settle(Link& link) {
    ASSERT_TRUE(link.client.ping(1));
    ASSERT_TRUE(link.await<Pong>());
  }
};

}  // namespace hostler::agent::test
