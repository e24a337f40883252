#include <sys/stat.h>

#include <filesystem>

#include "core/base/files.h"
#include "core/plugin_host/manifest.h"
#include "tests/temp_folder.h"
#include "tests/unit/plugin_host/chaos_set.h"

namespace hostler::plugin_host {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string fake(const std::string& name) {
  return HOSTLER_TEST_DRIVERS "/" + name + "/" + name + ".hostler.so";
}

class LibraryTest : public ::testing::Test {
 protected:
  fs::path file(const std::string& name, std::string_view content) {
    EXPECT_TRUE(write_file(folder_ / name, content, 0644));
    return folder_ / name;
  }
  /// A copy of the driver in a folder of its own, with its manifest.
  Manifest installed() {
    fs::copy(trusted_copy("fake_chaos"), folder_.path());
    return *discover({folder_.path()}).find("fake_chaos");
  }
  static std::string error_of(const fs::path& library) {
    const auto loaded = DriverLibrary::load_unpinned(library);
    return loaded ? "loaded" : loaded.error().message;
  }

  test::TempFolder folder_;
};

TEST_F(LibraryTest, NamesTheProblemOfAFileThatIsNoDriver) {
  const auto text = file("text.so", "no library");
  const auto cut = file("cut.so", std::string_view("\177ELF\2\1\1", 7));

  EXPECT_THAT(error_of(folder_ / "missing.so"), HasSubstr("No such file"));
  EXPECT_THAT(error_of(folder_.path()), HasSubstr("not a regular file"));
  EXPECT_THAT(error_of(text), AllOf(HasSubstr(text), HasSubstr("not an ELF file")));
  EXPECT_THAT(error_of(cut), HasSubstr("not a shared library for"));
}

TEST_F(LibraryTest, RefusesADamagedElfFile) {
  auto content = *read_file(fake("fake_chaos"), 64U << 20U);
  content.resize(4096);
  const auto cut = file("cut.so", content);

  EXPECT_THAT(error_of(cut), HasSubstr("cut.so: "));
}

TEST_F(LibraryTest, RefusesTablesThatBreakTheAbi) {
  EXPECT_THAT(error_of(fake("fake_no_entry")), HasSubstr("exports no hostler_driver_entry_1"));
  EXPECT_THAT(error_of(fake("fake_null")), HasSubstr("hostler_driver_entry_1 returned NULL"));
  EXPECT_THAT(error_of(fake("fake_other_major")), HasSubstr("speaks ABI major 2, this hostler 1"));
  EXPECT_THAT(error_of(fake("fake_short_table")), HasSubstr("R15: a struct_size of 16"));
  EXPECT_THAT(error_of(fake("fake_no_create")), HasSubstr("lacks a function"));
}

TEST_F(LibraryTest, NamesBothDraftsIfTheyDiffer) {
  const auto ours = std::to_string(HOSTLER_ABI_DRAFT);
  const auto theirs = std::to_string(HOSTLER_ABI_DRAFT + 1);
  auto manifest = installed();
  manifest.abi_draft = HOSTLER_ABI_DRAFT + 1;

  const auto loaded = DriverLibrary::load(manifest);

  EXPECT_THAT(error_of(fake("fake_other_draft")),
              AllOf(HasSubstr("draft " + theirs), HasSubstr("speaks draft " + ours)));
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message,
              AllOf(HasSubstr("draft " + theirs), HasSubstr("speaks draft " + ours)));
}

TEST_F(LibraryTest, TellsTheAuthorOfADriverOfAnEarlierDraftWhatToDo) {
  EXPECT_THAT(
      error_of(fake("fake_draft_2")),
      HasSubstr("is built for draft 2 of the driver ABI, this hostler speaks draft " +
                std::to_string(HOSTLER_ABI_DRAFT) + ": build the driver with this hostler's SDK"));
}

TEST_F(LibraryTest, RefusesALibraryThatOthersMayWriteTo) {
  const auto manifest = installed();
  fs::permissions(manifest.resolved(), fs::perms::others_write, fs::perm_options::add);

  const auto loaded = DriverLibrary::load(manifest);

  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, Errc::kForbidden);
  EXPECT_THAT(loaded.error().message, HasSubstr("chmod go-w"));
}

TEST_F(LibraryTest, AManifestThatOthersMayWriteToIsNoDriver) {
  const auto manifest = installed();
  fs::permissions(folder_.path(), fs::perms(0757));

  const auto all = discover({folder_.path()});

  EXPECT_TRUE(all.drivers.empty());
  EXPECT_THAT(all.find("fake_chaos").error().message,
              AllOf(HasSubstr(folder_.path().string() + " is writable"), HasSubstr("chmod go-w")));
  EXPECT_FALSE(DriverLibrary::load(manifest)) << "nor is its library loaded";
}

TEST_F(LibraryTest, NothingBeneathTheStateFolderIsLoaded) {
  const auto manifest = installed();
  const DriverRules rules{.state_dir = folder_.path()};

  EXPECT_THAT(discover({folder_.path()}, rules).find("fake_chaos").error().message,
              HasSubstr("beneath the state folder"));
  EXPECT_THAT(DriverLibrary::load(manifest, rules).error().message,
              HasSubstr("beneath the state folder"));
}

TEST_F(LibraryTest, LoadsOnlyTheLibraryThatTheConfigurationNames) {
  const auto manifest = installed();
  const std::string other(64, 'a');

  const auto loaded =
      DriverLibrary::load(manifest, {.trusted = {.sha256 = {{"fake_chaos", other}}}});

  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, AllOf(HasSubstr(manifest.sha256), HasSubstr(other)));
  EXPECT_TRUE(DriverLibrary::load(
      manifest, {.trusted = {.sha256 = {{"fake_chaos", manifest.sha256}, {"another", other}}}}));
}

TEST_F(LibraryTest, AnExceptionThatLeavesTheEntryIsCaught) {
  EXPECT_THAT(error_of(fake("fake_throw_in_entry")), HasSubstr("R45: an exception left"));
}

TEST_F(LibraryTest, UnknownKeysOfAManifestAreNotedAndIgnored) {
  auto manifest = installed();
  auto text = to_json(manifest);
  text.insert(1, R"("signed_by":"us",)");
  text.insert(text.find("\"sha256\""), R"("sha512":"ff",)");
  ASSERT_TRUE(write_file(manifest.file, text, 0644));

  const auto read = read_manifest(manifest.file);

  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->unknown_keys, ::testing::ElementsAre("library.sha512", "signed_by"));
  EXPECT_TRUE(DriverLibrary::load(*read));
}

TEST_F(LibraryTest, RefusesALibraryOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to give a file away";
  const auto manifest = installed();
  ASSERT_EQ(chown(manifest.resolved().c_str(), 65534, 65534), 0);

  const auto loaded = DriverLibrary::load(manifest);

  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("belongs to uid 65534"));
}

TEST_F(LibraryTest, AManifestWithoutASchemaCanBeReadAndWrittenAgain) {
  auto manifest = installed();
  const auto text = to_json(manifest);
  const auto at = text.find(",\"config_schema\"");
  ASSERT_NE(at, std::string::npos);
  ASSERT_TRUE(write_file(manifest.file, text.substr(0, at) + "}", 0644));
  const auto read = read_manifest(manifest.file);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_TRUE(write_file(manifest.file, to_json(*read), 0644));
  EXPECT_TRUE(read_manifest(manifest.file)) << to_json(*read);
}

TEST_F(LibraryTest, AManifestMayAskForLessOfASandbox) {
  auto manifest = installed();
  EXPECT_EQ(manifest.sandbox, model::Sandbox::kFull);
  manifest.sandbox = model::Sandbox::kFiles;

  const auto read = parse_manifest(to_json(manifest), "/x.hostler.json");
  auto text = to_json(manifest);
  text.replace(text.find("\"files\""), 7, "\"some\"");

  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->sandbox, model::Sandbox::kFiles);
  EXPECT_THAT(parse_manifest(text, "/x.hostler.json").error().message,
              HasSubstr("sandbox: found \"some\", allowed: full, files, none"));
}

TEST_F(LibraryTest, RefusesALibraryThatDiffersFromItsManifest) {
  const auto manifest = installed();
  auto content = *read_file(manifest.resolved(), 64U << 20U);
  ASSERT_TRUE(write_file(manifest.resolved(), content + "x", 0644));

  const auto loaded = DriverLibrary::load(manifest);

  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, Errc::kForbidden);
  EXPECT_THAT(loaded.error().message, HasSubstr("sha256"));
}

TEST_F(LibraryTest, RefusesAManifestThatNamesAnotherDriver) {
  auto manifest = installed();
  manifest.name = "other";

  const auto loaded = DriverLibrary::load(manifest);

  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("names the driver 'other'"));
}

TEST_F(LibraryTest, LoadsTheSameLibraryOnce) {
  const auto first = load_fake("fake_chaos");
  const auto second = DriverLibrary::load(installed());

  EXPECT_EQ(first, *second) << "a copy with the same content is the same library";
}

TEST_F(LibraryTest, ManifestReadsBackAsItWasWritten) {
  const auto made = make_manifest(fake("fake_chaos"), {});
  ASSERT_TRUE(made) << made.error().message;
  file("x.hostler.json", to_json(*made));

  const auto read = read_manifest(folder_ / "x.hostler.json");

  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read), to_json(*made));
  EXPECT_EQ(read->name, "fake_chaos");
  EXPECT_EQ(read->abi_draft, HOSTLER_ABI_DRAFT);
  EXPECT_THAT(read->extensions,
              ::testing::ElementsAre("hostler.host-key/1", "hostler.price-history/1",
                                     "hostler.quota-group/1", "hostler.offerings/1",
                                     "hostler.interruption/1", "hostler.console/1",
                                     "hostler.leftovers/1", "hostler.images/1"));
}

TEST_F(LibraryTest, TwoManifestsOfOneLibraryAreOneDriver) {
  installed();
  const auto all = discover({trusted_copy("fake_chaos"), folder_.path()});

  const auto found = all.find("fake_chaos");

  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->file.parent_path(), trusted_copy("fake_chaos")) << "the first one in the search";
}

TEST_F(LibraryTest, DiscoveryNamesBothManifestsOfOneName) {
  auto manifest = installed();
  manifest.sha256 = std::string(64, '0');
  ASSERT_TRUE(write_file(manifest.file, to_json(manifest), 0644));
  const auto all = discover({trusted_copy("fake_chaos"), folder_.path()});

  const auto found = all.find("fake_chaos");

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Errc::kConflict);
  EXPECT_THAT(found.error().message,
              AllOf(HasSubstr(trusted_copy("fake_chaos") / "fake_chaos.hostler.json"),
                    HasSubstr(manifest.file.string())));
}

TEST_F(LibraryTest, DiscoveryReportsEveryPathAndItsProblem) {
  const auto damaged = file("damaged.hostler.json", R"({"name": "x", "nmae": 1})");

  const auto all = discover({folder_ / "none", folder_.path(), "relative", folder_ / "."});
  const auto found = all.find("x");

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Errc::kNotFound);
  EXPECT_THAT(found.error().message,
              AllOf(HasSubstr("none: No such file"), HasSubstr(damaged.string()),
                    HasSubstr("relative: ignored: not an absolute path"),
                    HasSubstr("apt install hostler-driver-")));
  EXPECT_EQ(all.tried.size(), 3U) << "a folder with two paths is read once";
}

TEST(DiscoveryTest, ConfigurationComesBeforeEnvironmentAndSystem) {
  ASSERT_EQ(setenv("HOSTLER_DRIVER_PATH", "/b:/c", 1), 0);

  const auto folders = paths_of(search_order({"/a"}, "/opt/bin"));
  unsetenv("HOSTLER_DRIVER_PATH");

  EXPECT_THAT(folders, ::testing::ElementsAre(
                           "/a", "/opt/lib/hostler/drivers", "/b", "/c", "/etc/hostler/drivers.d",
                           "/usr/local/lib/hostler/drivers", "/usr/lib/hostler/drivers"));
}

}  // namespace
}  // namespace hostler::plugin_host
