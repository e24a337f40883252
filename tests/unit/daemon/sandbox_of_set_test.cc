#include "core/daemon/sandbox_of_set.h"

#include <gmock/gmock.h>

namespace hostler::daemon {
namespace {

using model::Sandbox;
using testing::HasSubstr;

struct Case {
  const char* driver;
  std::optional<Sandbox> configured;
  Sandbox asked;  ///< By the manifest.
  Sandbox min;
};

Result<driver_host::SandboxOptions> sandbox_of(const Case& c) {
  SetSource set;
  set.name = "s";
  set.driver = c.driver;
  set.sandbox = c.configured;
  set.readable = {"/etc/ca.pem"};
  plugin_host::Manifest driver;
  driver.name = c.driver;
  driver.sandbox = c.asked;
  return sandbox_of(set, driver, c.min);
}

constexpr std::nullopt_t kDefault = std::nullopt;

TEST(SandboxOfSetTest, IsWhatTheConfigurationSays) {
  for (const auto level : {Sandbox::kNone, Sandbox::kFiles, Sandbox::kFull})
    for (const auto asked : {Sandbox::kNone, Sandbox::kFiles, Sandbox::kFull})
      EXPECT_EQ(sandbox_of({"cloud", level, asked, Sandbox::kNone})->level, level);
}

TEST(SandboxOfSetTest, IsFullByDefaultAndOnlyLocalHasLess) {
  const auto full = sandbox_of({"cloud", kDefault, Sandbox::kFull, Sandbox::kFiles});

  EXPECT_EQ(full->level, Sandbox::kFull);
  EXPECT_EQ(full->min, Sandbox::kFiles);
  EXPECT_THAT(full->readable, testing::ElementsAre("/etc/ca.pem"));
  EXPECT_EQ(sandbox_of({"local", kDefault, Sandbox::kNone, Sandbox::kNone})->level, Sandbox::kNone);
}

TEST(SandboxOfSetTest, WhatAManifestAsksForMustBeConfigured) {
  const auto refused = sandbox_of({"cloud", kDefault, Sandbox::kNone, Sandbox::kNone});

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "it asks for the sandbox \"none\": write \"sandbox\": \"none\" into set \"s\" if you "
            "trust it "
            "with that, or \"full\"");
}

TEST(SandboxOfSetTest, LessThanTheSiteRequiresIsRefused) {
  const auto refused = sandbox_of({"local", kDefault, Sandbox::kNone, Sandbox::kFull});

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr("it needs the sandbox \"none\", but sandbox_min is \"full\""));
}

}  // namespace
}  // namespace hostler::daemon
