// What a driver can do at each level of its sandbox, as a driver finds it.
#include <sys/prctl.h>

#include <filesystem>
#include <future>
#include <thread>
#include <tuple>

#include "core/driver_host/child/file_access.h"
#include "core/driver_host/parent/process_set.h"
#include "tests/unit/driver_host/intruder_set.h"

namespace hostler::driver_host {
namespace {

using model::Sandbox;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct Attempt {
  const char* word;
  const char* path;  ///< "" for none; "FILE", "FOLDER": ones of this user.
  const char *full, *files, *none;
};

constexpr const char* kDone = "done";
constexpr const char* kDenied = "Permission denied";
constexpr const char* kRefused = "Operation not permitted";
constexpr const char* kAny = "";  ///< Depends on who runs the test.

class SandboxTest : public testing::TestWithParam<Attempt> {
 protected:
  void SetUp() override {
    if (!kernel_has_landlock()) GTEST_SKIP() << "this kernel has no Landlock";
  }
  std::string end_at(Sandbox level) {
    std::string path = GetParam().path;
    if (path == "FILE") path = folder_.put("file", "secret");
    if (path == "FOLDER") path = folder_.path();
    if (path == "FOLDER/new") path = folder_ / "new";
    return attempt({.level = level}, GetParam().word, path);
  }

 private:
  const test::TempFolder folder_;
};

TEST_P(SandboxTest, EndsAsTheLevelSays) {
  EXPECT_THAT(end_at(Sandbox::kFull), HasSubstr(GetParam().full)) << "full";
  EXPECT_THAT(end_at(Sandbox::kFiles), HasSubstr(GetParam().files)) << "files";
  EXPECT_THAT(end_at(Sandbox::kNone), HasSubstr(GetParam().none)) << "none";
}

std::string name_of(const testing::TestParamInfo<Attempt>& info) {
  return std::to_string(info.index) + "_" + info.param.word;
}

INSTANTIATE_TEST_SUITE_P(WhatDriversNeed, SandboxTest,
                         testing::Values(Attempt{"nothing", "", kDone, kDone, kDone},
                                         Attempt{"read", "/etc/hosts", kDone, kDone, kDone},
                                         Attempt{"read", "/proc/self/maps", kDone, kDone, kDone},
                                         Attempt{"list", "/usr/lib", kDone, kDone, kDone},
                                         Attempt{"write", "/dev/null", kDone, kDone, kDone},
                                         Attempt{"list", "/sys/fs/cgroup", kDone, kDone, kDone},
                                         Attempt{"list", "/etc/ssl/certs", kDone, kDone, kDone},
                                         Attempt{"socket_pair", "", kDone, kDone, kDone},
                                         Attempt{"use_sockets", "", kDone, kDone, kDone},
                                         Attempt{"inet_socket", "", kDone, kDone, kDone},
                                         Attempt{"resolve", "", kDone, kDone, kDone},
                                         Attempt{"signal_itself", "", kDone, kDone, kDone},
                                         Attempt{"name_itself", "", kDone, kDone, kDone}),
                         name_of);

INSTANTIATE_TEST_SUITE_P(
    Files, SandboxTest,
    testing::Values(Attempt{"read", "FILE", kDenied, kDenied, kDone},
                    Attempt{"list", "FOLDER", kDenied, kDenied, kDone},
                    Attempt{"read", "/etc/shadow", kDenied, kDenied, kAny},
                    Attempt{"write", "FILE", kDenied, kDenied, kDone},
                    Attempt{"make", "FOLDER/new", kDenied, kDenied, kDone},
                    Attempt{"make_temporary", "FOLDER", kDenied, kDenied, kAny},
                    Attempt{"read_and_truncate", "FILE", kRefused, kDenied, kDone},
                    Attempt{"truncate", "FILE", kRefused, kAny, kDone},
                    Attempt{"chmod", "FILE", kRefused, kDone, kDone},
                    Attempt{"remove", "FILE", kRefused, kDenied, kDone},
                    Attempt{"watch", "FOLDER", kRefused, kDone, kDone},
                    Attempt{"constructor", "", kDenied, kDenied, kDone}),
    name_of);

INSTANTIATE_TEST_SUITE_P(ProgramsAndProcesses, SandboxTest,
                         testing::Values(Attempt{"exec", "/bin/true", kRefused, kDone, kDone},
                                         Attempt{"fork", "", kRefused, kDone, kDone},
                                         Attempt{"ptrace", "", kRefused, kRefused, kAny},
                                         Attempt{"read_memory", "", kRefused, kRefused, kAny},
                                         Attempt{"signal", "", kRefused, kAny, kDone},
                                         Attempt{"survive", "", kRefused, kDone, kDone},
                                         Attempt{"pin_host", "", kRefused, kAny, kAny},
                                         Attempt{"pin_itself", "", kDone, kDone, kDone},
                                         Attempt{"read_limits", "", kRefused, kAny, kAny}),
                         name_of);

INSTANTIATE_TEST_SUITE_P(
    KernelAndPrivileges, SandboxTest,
    testing::Values(Attempt{"capabilities", "", kRefused, kRefused, kAny},
                    Attempt{"raise_limit", "", kRefused, kRefused, kAny},
                    Attempt{"packet_pair", "", kRefused, kDone, kDone},
                    Attempt{"unix_socket", "", "Address family not supported", kDone, kDone},
                    Attempt{"crypto_socket", "", "Address family not supported", kAny, kAny},
                    Attempt{"mount", "", kRefused, kAny, kAny},
                    Attempt{"bpf", "", kRefused, kAny, kAny},
                    Attempt{"io_uring", "", kRefused, kAny, kAny},
                    Attempt{"clone3", "", "Function not implemented", kAny, kAny},
                    Attempt{"new_call", "", "Function not implemented", kAny, kAny}),
    name_of);

TEST(SandboxLevelTest, IsSaidAsItIsInForce) {
  if (!kernel_has_landlock()) GTEST_SKIP() << "this kernel has no Landlock";
  for (const auto level : {Sandbox::kFull, Sandbox::kFiles, Sandbox::kNone}) {
    const auto set = make_intruder({.level = level});
    (void)open(*set, "nothing", "");
    EXPECT_EQ(set->health().sandbox, to_string(level));
  }
}

TEST(SandboxLevelTest, WithLessThanIsRequiredTheDriverIsNotLoaded) {
  const std::string end = attempt({.level = Sandbox::kNone, .min = Sandbox::kFull}, "nothing", "");

  EXPECT_THAT(end,
              AllOf(HasSubstr("the sandbox of the driver's process is none, but sandbox_min of "
                              "the configuration is full"),
                    Not(HasSubstr("nothing: done"))));
}

TEST(ReadableTest, FilesAndFoldersOfTheConfigurationAreReadableAndNoMore) {
  if (!kernel_has_landlock()) GTEST_SKIP() << "this kernel has no Landlock";
  const test::TempFolder folder;
  const std::string file = folder.put("file", "certificate"), other = folder.put("other", "");
  const SandboxOptions one{.readable = {file, folder / "missing"}};

  EXPECT_EQ(attempt(one, "read", file), "read: done");
  EXPECT_EQ(attempt(one, "read", other), "read: Permission denied");
  EXPECT_EQ(attempt(one, "write", file), "write: Permission denied");
  EXPECT_EQ(attempt({.readable = {folder.path()}}, "read", other), "read: done");
}

/// Bug: F_SETLEASE on a file of the system made its next reader wait for 45 s, and one on a
/// manifest made the reload of another set fail; locks and attributes of such files could be set,
/// too.
TEST(ReadableTest, AFileThatOthersUseIsNeitherLockedNorLeasedNorChanged) {
  if (!kernel_has_landlock()) GTEST_SKIP() << "this kernel has no Landlock";
  const test::TempFolder folder;
  const std::string file = folder.put("file", "of all");
  for (const char* word : {"lease", "notify", "lock", "lock_record"})
    EXPECT_EQ(attempt({.readable = {file}}, word, file), std::string(word) + ": " + kRefused);
  for (const char* word : {"set_attributes", "block_size"})
    EXPECT_EQ(attempt({.readable = {file}}, word, file),
              std::string(word) + ": Inappropriate ioctl for device");
}

/// Exits with 0 if the replacement of a readable file is noticed. A thread that is there before the
/// restriction can still write.
[[noreturn]] void replace_a_readable_file() {
  const test::TempFolder folder;
  const std::string file = folder.put("file", "old"), fresh = folder.put("fresh", "new");
  std::promise<void> restricted, replaced;
  std::thread writer([&] {
    restricted.get_future().wait();
    std::filesystem::rename(fresh, file);
    replaced.set_value();
  });
  const auto library = *plugin_host::open_untrusted_library(file);
  (void)::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);  // only root may restrict itself without it
  const auto access = FileAccess::restrict({.readable = {file}}, library);
  const bool before = access && access->is_outdated();
  restricted.set_value();
  replaced.get_future().wait();
  const bool after = access && access->is_outdated();
  writer.join();
  ::_exit(!before && after ? 0 : 1);
}

TEST(ReadableTest, AFileThatTakesThePlaceOfAnotherIsNoticed) {
  if (!kernel_has_landlock()) GTEST_SKIP() << "this kernel has no Landlock";
  EXPECT_EXIT(replace_a_readable_file(), testing::ExitedWithCode(0), "");
}

TEST(LimitsTest, APieceOfSharedMemoryIsSmall) {
  const std::string mapping = attempt({.level = Sandbox::kFull}, "share_mapping", "");
  EXPECT_EQ(mapping, "share_mapping: Cannot allocate memory");
  for (const auto level : {Sandbox::kFull, Sandbox::kFiles})
    EXPECT_EQ(attempt({.level = level}, "share_file", ""), "share_file: File too large");
}

/// The end of a process that keeps so many pieces, and waits.
class ManyPiecesTest : public testing::TestWithParam<const char*> {};

TEST_P(ManyPiecesTest, AreCountedTogetherAndEndTheProcess) {
  const auto set = make_intruder({.level = Sandbox::kFull});
  EXPECT_THAT(open(*set, GetParam(), ""), HasSubstr("was ended: limit: it shares "));
  EXPECT_THAT(set->health().last_broken_rule, HasSubstr("limit: it shares"));
}

INSTANTIATE_TEST_SUITE_P(Of63MiB, ManyPiecesTest,
                         testing::Values("share_80_mappings", "share_80_files"),
                         [](const auto& one) { return std::string(one.param); });

/// Bug: a driver could make 3,000 threads.
TEST(LimitsTest, ADriverWithTooManyThreadsIsEnded) {
  const auto set = make_intruder({.level = Sandbox::kFull});
  EXPECT_THAT(open(*set, "1200_threads", ""), HasSubstr("was ended: limit: it has 1"));
}

// Bug: what a driver wrote to the socket of its process was limited only within this process.
TEST(LimitsTest, MessagesThatNoCallAskedForWait) {
  const auto set = make_intruder({.level = Sandbox::kFull});
  EXPECT_EQ(open(*set, "pongs", ""), "pongs: done");
  EXPECT_THAT(set->health().last_broken_rule, HasSubstr("R44: it sends more than 1000 messages"));
}

TEST(LimitsTest, AreSaidAsTheyAreInForce) {
  for (const auto& [level, memory, cpu] : {std::tuple{Sandbox::kFull, "process", "nice"},
                                           std::tuple{Sandbox::kNone, "none", "none"}}) {
    const auto set = make_intruder({.level = level});
    (void)open(*set, "nothing", "");
    EXPECT_EQ(set->health().memory_limit, memory);
    EXPECT_EQ(set->health().cpu_limit, cpu);
  }
}

/// With cgroups, where this machine gives some.
TEST(CgroupTest, CountsMemoryAndThreadsOfADriver) {
  const auto cgroups =
      std::make_shared<ProcessCgroups>("hostler-test-" + std::to_string(::getpid()));
  if (cgroups->make().folders.empty()) GTEST_SKIP() << "this process may not make cgroups";
  const auto set = make_intruder({.level = Sandbox::kFull}, HOSTLER_DRIVER_HOST, cgroups);

  EXPECT_EQ(open(*set, "nothing", ""), "nothing: done");
  EXPECT_EQ(set->health().memory_limit, "cgroup");
  EXPECT_EQ(set->health().cpu_limit, "cgroup");
  EXPECT_THAT(open(*set, "share_80_files", ""),
              HasSubstr("its memory has reached the limit of 4 GiB"));
  EXPECT_EQ(open(*set, "1200_threads", ""), "1200_threads: Resource temporarily unavailable");
}

#ifndef HOSTLER_SANITIZED
TEST(LimitsTest, ADriverGetsNoMoreMemoryThanTheMachineCanSpare) {
  EXPECT_EQ(attempt({.level = Sandbox::kFull}, "memory", ""), "memory: Cannot allocate memory");
  EXPECT_EQ(attempt({.level = Sandbox::kFiles}, "memory", ""), "memory: Cannot allocate memory");
}
#endif

}  // namespace
}  // namespace hostler::driver_host
