// Files that a driver brings beside its library.
#include <filesystem>

#include "core/base/files.h"
#include "core/crypto/hash.h"
#include "core/driver_host/parent/describe.h"
#include "core/driver_host/parent/process_set.h"
#include "tests/unit/plugin_host/chaos_set.h"

namespace hostler::plugin_host {
namespace {

namespace fs = std::filesystem;
using model::DriverTrust;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kDriver = "fake_own_files";

class OwnFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::copy(HOSTLER_TEST_DRIVERS "/fake_own_files", folder_.path());
    for (const auto& file : fs::directory_iterator(folder_.path()))
      fs::permissions(file, fs::perms(0755));
  }
  /// Why its files are not taken; empty: they are.
  [[nodiscard]] std::string refusal() const {
    const auto found = discover({folder_.path()}, rules_).find(kDriver);
    if (!found) return found.error().message;
    const auto files = check_library(*found, rules_);
    return files ? "" : files.error().message;
  }
  /// What the driver has found: it opens no set, and says why.
  [[nodiscard]] std::string findings(LibraryFile files) const {
    driver_host::ProcessOptions options;
    options.program = HOSTLER_DRIVER_HOST;
    options.sandbox.level = model::Sandbox::kFiles;
    const auto set = driver_host::make_process_set(kDriver, std::move(files), options);
    Awaited<model::SetInfo> opened;
    set->open({}, kPatience, opened.done());
    const auto end = opened.get();
    return end ? "it is open" : end.error().message;
  }
  [[nodiscard]] Manifest manifest() const { return *discover({folder_.path()}).find(kDriver); }

  [[nodiscard]] fs::path manifest_file() const { return folder_ / "fake_own_files.hostler.json"; }

  test::TempFolder folder_;
  DriverRules rules_;
};

TEST_F(OwnFilesTest, ADriverHasItsLibraryAndItsProgram) {
  EXPECT_THAT(findings(*check_library(manifest(), rules_)),
              HasSubstr("the library says 42, the program ended with 7, another is not named"));
}

TEST_F(OwnFilesTest, TheManifestNamesThemWhoeverMakesIt) {
  const auto library = folder_ / "fake_own_files.hostler.so";
  const auto files = own_files_of(library);
  ASSERT_EQ(files.size(), 2U);

  const auto made = driver_host::describe_library(HOSTLER_DRIVER_HOST, library, files);

  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->files, manifest().files);
  EXPECT_EQ(make_manifest(library, files)->files, manifest().files);
}

TEST_F(OwnFilesTest, AManifestNamesFilesBesideTheLibraryOnly) {
  const std::string good = to_json(manifest());
  for (const char* name : {"../fake_program", "/bin/sh", ".", "..", ".hidden", ""}) {
    auto bad = *parse_manifest(good, manifest_file());
    bad.files[1].name = name;
    ASSERT_TRUE(write_file(bad.file, to_json(bad), 0644));
    EXPECT_THAT(refusal(), HasSubstr("beside the library")) << name;
  }
  auto twice = *parse_manifest(good, manifest_file());
  twice.files.push_back(twice.files[0]);
  ASSERT_TRUE(write_file(manifest_file(), to_json(twice), 0644));
  EXPECT_THAT(refusal(), HasSubstr("named twice"));

  EXPECT_FALSE(open_untrusted_library(folder_ / "fake_own_files.hostler.so", {"/bin/sh"}));
}

TEST_F(OwnFilesTest, WhatWasCheckedIsWhatRunsWhoeverReplacesItThen) {
  auto files = *check_library(manifest(), rules_);
  for (const char* name : {"fake_program", "libfake_number.so.1"}) {
    fs::remove(folder_ / name);
    ASSERT_TRUE(write_file(folder_ / name, "#!/bin/sh\nexit 3\n", 0755));
  }

  EXPECT_THAT(findings(std::move(files)),
              HasSubstr("the library says 42, the program ended with 7"));
}

TEST_F(OwnFilesTest, AFileThatWasReplacedOrIsMissingRefusesTheDriver) {
  const auto put = folder_ / "fake_program";
  const auto original = *read_file(put, 64U << 20U);
  ASSERT_TRUE(write_file(put, "#!/bin/sh\n", 0755));
  EXPECT_THAT(refusal(), AllOf(HasSubstr(put.string()), HasSubstr("driver manifest")));

  fs::remove(put);
  EXPECT_THAT(refusal(), HasSubstr(put.string()));

  ASSERT_TRUE(write_file(put, original, 0755));
  EXPECT_EQ(refusal(), "");
}

TEST_F(OwnFilesTest, AFileThatOthersMayWriteToRefusesTheDriver) {
  fs::permissions(folder_ / "fake_program", fs::perms(0777));

  EXPECT_THAT(refusal(), AllOf(HasSubstr("writable"), HasSubstr("fake_program")));
}

TEST_F(OwnFilesTest, ThePinOfADriverWithFilesIsThatOfItsManifest) {
  rules_.trusted.trust = DriverTrust::kPinned;
  rules_.trusted.sha256 = {{kDriver, manifest().sha256}};
  EXPECT_THAT(refusal(), AllOf(HasSubstr("manifest"), HasSubstr(manifest().own_sha256)));

  rules_.trusted.sha256 = {{kDriver, manifest().own_sha256}};
  EXPECT_EQ(refusal(), "");
  EXPECT_THAT(findings(*check_library(manifest(), rules_)), HasSubstr("no others are allowed"));
}

TEST_F(OwnFilesTest, ALibraryThatNeedsAnotherByItsPathSaysWhereItIs) {
  const auto library = folder_ / "fake_own_files.hostler.so";
  auto text = *read_file(library, 64U << 20U);
  const auto at = text.find("libfake_number.so.1");
  ASSERT_NE(at, std::string::npos);
  text[at] = '/';
  ASSERT_TRUE(write_file(library, text, 0755));

  EXPECT_EQ(has_search_path(open_untrusted_library(library)->fd), true);
}

TEST_F(OwnFilesTest, ALibraryThatLooksElsewhereForOthersIsForSitesThatTakeAllDriversOnly) {
  const auto library = HOSTLER_ELSEWHERE "/elsewhere.hostler.so";
  EXPECT_EQ(has_search_path(open_untrusted_library(library)->fd), true);
  EXPECT_EQ(has_search_path(open_untrusted_library(folder_ / "fake_own_files.hostler.so")->fd),
            false);

  const auto text = *read_file(library, 64U << 20U);
  ASSERT_TRUE(write_file(folder_ / "fake_own_files.hostler.so", text, 0755));
  auto changed = manifest();
  changed.sha256 = *sha256_of(open_untrusted_library(library)->fd, library);
  ASSERT_TRUE(write_file(changed.file, to_json(changed), 0644));
  EXPECT_EQ(refusal(), "");

  rules_.trusted.trust = DriverTrust::kPinned;
  rules_.trusted.sha256 = {{kDriver, crypto::sha256_hex(to_json(changed))}};
  EXPECT_THAT(refusal(), HasSubstr("RUNPATH"));
}

}  // namespace
}  // namespace hostler::plugin_host
