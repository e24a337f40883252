#include "core/driver_host/parent/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/plugin_host/manifest.h"

namespace hostler::driver_host {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const std::string& library, Duration patience = 10s) {
  const auto made = describe_library(HOSTLER_DRIVER_HOST, library, {}, patience);
  return made ? "none" : made.error().message;
}

std::string bad(const std::string& what) {
  return HOSTLER_BAD_AT_LOAD "/bad_at_load_" + what + ".hostler.so";
}

TEST(DescribeTest, TheManifestIsTheOneThatThisProcessWouldMake) {
  const std::string library = HOSTLER_TEST_DRIVERS "/fake_chaos/fake_chaos.hostler.so";
  const auto beside = describe_library(HOSTLER_DRIVER_HOST, library, {});
  ASSERT_TRUE(beside) << beside.error().message;
  const auto here = plugin_host::make_manifest(library, {});
  ASSERT_TRUE(here);
  EXPECT_EQ(to_json(*beside), to_json(*here));
}

// Bug: `hostler driver manifest` loaded the library itself, and ended or hung with it.
TEST(DescribeTest, ALibraryThatEndsItsProcessWhenItIsLoadedIsAnErrorWithItsBootConsoles) {
  EXPECT_THAT(error_of(bad("crash")),
              AllOf(HasSubstr("bad_at_load_crash.hostler.so"), HasSubstr("signal 6 (Aborted)"),
                    HasSubstr("these are the last words")));
  EXPECT_THAT(error_of(bad("exit")), HasSubstr("was ended by exit(0)"));
}

// Bug: such an author read "signal 11", and the driver ran where WEST_HOME was set.
TEST(DescribeTest, AnEntryFunctionThatNeedsAVariableIsToldWhichOnesThereAre) {
  ::setenv("WEST_HOME", "/opt/west", 1);
  ::setenv("no_proxy", "localhost", 1);
  EXPECT_THAT(error_of(bad("entry")),
              AllOf(HasSubstr("it crashed in its entry function, hostler_driver_entry_1"),
                    HasSubstr("signal 6 (Aborted)"), HasSubstr("has only PATH, LANG"),
                    HasSubstr("no_proxy"), testing::Not(HasSubstr("WEST_HOME,")),
                    HasSubstr("it wrote: these are the last words; WEST_HOME is not set")));
  EXPECT_THAT(error_of(bad("crash")), HasSubstr("it crashed before it had said what it is"));
}

TEST(DescribeTest, ALibraryThatHangsWhenItIsLoadedIsGivenUp) {
  EXPECT_THAT(error_of(bad("hang"), 300ms),
              AllOf(HasSubstr("it hangs"), HasSubstr("these are the last words")));
}

TEST(DescribeTest, WhatIsNoDriverIsNotLoaded) {
  EXPECT_THAT(error_of("/etc/passwd"), HasSubstr("not an ELF file"));
  EXPECT_THAT(error_of("/nowhere.so"), HasSubstr("/nowhere.so"));
}

TEST(DescribeTest, AMissingProgramIsNamed) {
  const auto made = describe_library("/nowhere/hostler-driver-host",
                                     HOSTLER_TEST_DRIVERS "/fake_chaos/fake_chaos.hostler.so", {});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("/nowhere/hostler-driver-host"));
}

}  // namespace
}  // namespace hostler::driver_host
