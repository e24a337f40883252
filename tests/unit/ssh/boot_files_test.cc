#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "core/base/files.h"
#include "core/ssh/init_command.h"
#include "core/ssh/init_script.h"
#include "tests/integration/ssh/sshd.h"
#include "tests/temp_folder.h"

namespace hostler::ssh {
namespace {

using test::shell;

/// The command of a pool, with each shell that a host may have.
class BootFilesTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (shell("command -v " + std::string(GetParam()) + " | cut -d' ' -f1").empty())
      GTEST_SKIP() << GetParam() << " is not installed";
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  void boots_with(std::vector<model::BootFile> files) { pool_.boot_files = std::move(files); }
  /// What the command printed, and its exit status.
  std::string run(const HostPlace& place = {"h-7", "p", "s", ""}) {
    EXPECT_TRUE(write_file(path("command"), make_init_command(pool_, place), 0600));
    return shell(std::string(GetParam()) + " " + path("command") + " 2>&1; echo \"status $?\"");
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    const auto read = read_file(path(name), 1 << 20);
    return read ? *read : read.error().message;
  }
  [[nodiscard]] mode_t mode(const std::string& name) const {
    struct stat found {};
    EXPECT_EQ(stat(path(name).c_str(), &found), 0) << name;
    return found.st_mode & 07777U;
  }

  test::TempFolder folder_;
  model::PoolPolicy pool_;
};

TEST_P(BootFilesTest, FilesHaveTheirBytesAndModeBeforeTheInitCommandRuns) {
  std::string bytes;
  for (int i = 0; i < 70'000; ++i) bytes += static_cast<char>(i * 7 % 256);
  boots_with({{path("etc/deep/it's $HOME"), bytes, 0640, ""},
              {path("empty"), "", 0600, ""},
              {path("tool"), "#!/bin/sh\necho HOSTLER_END\n", 04755, ""}});
  pool_.init_command = path("tool") + "; umask";

  EXPECT_EQ(run(), "HOSTLER_END\n" + shell("umask") + "\nstatus 0");
  EXPECT_EQ(content("etc/deep/it's $HOME"), bytes);
  EXPECT_EQ(mode("etc/deep/it's $HOME"), 0640U);
  EXPECT_EQ(mode("etc/deep"), 0755U) << "for everyone, whatever the file is";
  EXPECT_EQ(content("empty"), "");
  EXPECT_EQ(mode("empty"), 0600U);
  EXPECT_EQ(mode("tool"), 04755U);
}

TEST_P(BootFilesTest, AFileTakesThePlaceOfAnotherOneAndNotOfAFolder) {
  ASSERT_TRUE(write_file(path("old"), "old", 0600));
  std::filesystem::create_symlink("/nowhere", path("link"));
  boots_with({{path("old"), "new", 0644, ""}, {path("link"), "new", 0644, ""}});
  EXPECT_EQ(run(), "status 0");
  EXPECT_EQ(content("old"), "new");
  EXPECT_FALSE(std::filesystem::is_symlink(path("link")));

  std::filesystem::create_directory(path("folder"));
  boots_with({{path("folder"), "new", 0644, ""}});
  pool_.init_command = "echo ran";
  EXPECT_EQ(run(), path("folder") + " is a folder\nthe boot file " + path("folder") +
                       " cannot be written\nstatus 1");
  EXPECT_TRUE(std::filesystem::is_empty(path("folder")));
  EXPECT_FALSE(std::filesystem::exists(path("folder.hostler-new")));
}

// Bug: the second was written by way of the first, which was gone then.
TEST_P(BootFilesTest, AFileLeavesOneWithALongerNameAlone) {
  boots_with({{path("conf.new"), "first", 0644, ""}, {path("conf"), "second", 0644, ""}});
  EXPECT_EQ(run(), "status 0");
  EXPECT_EQ(content("conf.new"), "first");
  EXPECT_EQ(content("conf"), "second");
}

TEST_P(BootFilesTest, AnOwnerThatTheHostDoesNotHaveIsAFailure) {
  boots_with({{path("file"), "new", 0644, "nobody-of-this-name"}});
  pool_.init_command = "echo ran";
  const std::string said = run();
  EXPECT_TRUE(said.ends_with("the boot file " + path("file") + " cannot be written\nstatus 1"))
      << said;
  EXPECT_FALSE(std::filesystem::exists(path("file"))) << "nor as a file of root";
  if (geteuid() != 0) return;
  boots_with({{path("file"), "new", 0644, "65534:65533"}});
  EXPECT_EQ(run(), "ran\nstatus 0");
  EXPECT_EQ(shell("stat -c %u:%g " + path("file")), "65534:65533");
}

TEST_P(BootFilesTest, VariablesSayWhereTheHostIsWhateverTheNamesAre) {
  pool_.init_command =
      "env | grep -E '^HOSTLER_(INSTANCE|POOL|SET|CLOUD_ID)=' | sort; sh -c 'printf %s "
      "\"$HOSTLER_CLOUD_ID\"'";
  EXPECT_EQ(run({"h-7", "p", "s", "$(id)'\"`id` \\"}),
            "HOSTLER_CLOUD_ID=$(id)'\"`id` \\\nHOSTLER_INSTANCE=h-7\nHOSTLER_POOL=p\n"
            "HOSTLER_SET=s\n$(id)'\"`id` \\status 0");
}

TEST_P(BootFilesTest, TheyComeByUserDataAndOverTheConnection) {
  boots_with({{path("file"), "HOSTLER_END\n", 0644, ""}});
  pool_.init_command =
      "cat " + path("file") + " >> " + path("mark") + "; echo $HOSTLER_POOL >> " + path("mark");
  const std::string environment = "HOSTLER_AGENT_DIR=" + path("agent") + " ";
  const std::string command = make_init_command(pool_, {"h-7", "p", "s", ""});
  ASSERT_TRUE(write_file(path("init"), make_init_script({"aa", "", "", command, "h-7"}), 0600));
  shell(environment + GetParam() + " " + path("init"));
  EXPECT_EQ(content("mark"), "HOSTLER_END\np\n");

  ASSERT_TRUE(write_file(path("init"), make_init_script({"aa", "", "", "", "h-7", true}), 0600));
  ASSERT_TRUE(write_file(path("delivery"), make_init_delivery(command, "h-7"), 0600));
  shell(environment + GetParam() + " " + path("init") + "; " + environment + GetParam() + " -s < " +
        path("delivery"));
  shell("until grep -q ended " + path("agent/init.status") + "; do sleep 0.1; done");
  EXPECT_EQ(content("mark"), "HOSTLER_END\np\nHOSTLER_END\np\n");
}

INSTANTIATE_TEST_SUITE_P(Shells, BootFilesTest, testing::Values("dash", "bash", "busybox sh"),
                         [](const auto& shell) {
                           std::string name = shell.param;
                           std::erase(name, ' ');
                           return name;
                         });

TEST(InitCommandTextTest, APoolWithoutACommandAndFilesHasNone) {
  EXPECT_EQ(make_init_command({}, {"h-7", "p", "s"}), "");
  model::PoolPolicy pool;
  pool.boot_files = std::vector<model::BootFile>{{"/f", "", 0644, ""}};
  EXPECT_NE(make_init_command(pool, {"h-7", "p", "s"}), "") << "files alone are one, too";
}

}  // namespace
}  // namespace hostler::ssh
