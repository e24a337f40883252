#include "core/plugin_host/sandbox.h"

#include <gmock/gmock.h>

namespace hostler::plugin_host {
namespace {

using model::Sandbox;
using testing::HasSubstr;

Manifest driver(const std::string& name, Sandbox asked) {
  Manifest out;
  out.name = name;
  out.sandbox = asked;
  return out;
}

TEST(SandboxTest, IsWhatTheConfigurationSays) {
  for (const auto level : {Sandbox::kNone, Sandbox::kFiles, Sandbox::kFull})
    for (const auto asked : {Sandbox::kNone, Sandbox::kFiles, Sandbox::kFull})
      EXPECT_EQ(sandbox_of(driver("cloud", asked), level, Sandbox::kNone), level);
}

TEST(SandboxTest, IsFullByDefaultAndOnlyLocalHasLess) {
  EXPECT_EQ(sandbox_of(driver("cloud", Sandbox::kFull), {}, Sandbox::kNone), Sandbox::kFull);
  EXPECT_EQ(sandbox_of(driver("cloud", Sandbox::kFull), {}, Sandbox::kFull), Sandbox::kFull);
  EXPECT_EQ(sandbox_of(driver("local", Sandbox::kNone), {}, Sandbox::kNone), Sandbox::kNone);
}

TEST(SandboxTest, WhatAManifestAsksForMustBeConfigured) {
  const auto refused = sandbox_of(driver("cloud", Sandbox::kNone), {}, Sandbox::kNone);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "it asks for the sandbox \"none\": write \"sandbox\": \"none\" into the set if you "
            "trust it with that, or \"full\"");
}

TEST(SandboxTest, LessThanTheSiteRequiresIsRefused) {
  const auto refused = sandbox_of(driver("local", Sandbox::kNone), {}, Sandbox::kFull);

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr("its sandbox is \"none\", but sandbox_min is \"full\""));
}

}  // namespace
}  // namespace hostler::plugin_host
