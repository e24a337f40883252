// A site puts things on the new hosts of a pool: its cloud-config and its files.
#include <gmock/gmock.h>

#include "core/config/load.h"
#include "tests/temp_folder.h"

namespace hostler::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class BootTest : public testing::Test {
 protected:
  Reading read(const std::string& members, const std::string& more = "") {
    return read_text(R"({
        "types": [{"name": "t", "vcpus": 1, "ram": "1GiB", "price": 0.01}],
        "sets": [{"name": "s", "driver": "local"}], )" +
                         more + R"("pools": [{"name": "p", "sets": ["s"], "types": ["t"], )" +
                         members + "}]}",
                     folder_.path(), {.surroundings = {.is_root = true}, .state_dir = {}});
  }
  model::PoolPolicy pool(const std::string& members) {
    const Reading reading = read(members);
    for (const auto& problem : reading.problems) ADD_FAILURE() << problem.message;
    return reading.problems.empty() ? reading.config.site.pools[0] : model::PoolPolicy();
  }
  std::vector<std::string> problems(const std::string& members, const std::string& more = "") {
    std::vector<std::string> out;
    for (const Error& error : read(members, more).problems) out.push_back(error.message);
    return out;
  }
  std::vector<std::string> problems_of_file(const std::string& members,
                                            const std::string& more = "") {
    return problems(R"("boot_files": [{)" + members + "}]", more);
  }

  test::TempFolder folder_;
};

TEST_F(BootTest, TheCloudConfigIsATextOrAFileBesideTheConfiguration) {
  const std::string text = "#cloud-config\nhostname: a\n";
  EXPECT_EQ(*pool(R"("cloud_config": "#cloud-config\nhostname: a\n")").cloud_config, text);
  folder_.put("site.yaml", text, 0644);
  EXPECT_EQ(*pool(R"("cloud_config": "site.yaml")").cloud_config, text);
  EXPECT_EQ(*pool(R"("cloud_config": "${config_dir}/site.yaml")").cloud_config, text);
  EXPECT_EQ(*pool(R"("cloud_config": "")").cloud_config, "");
}

// Kip's changes reached a new host only after a restart.
TEST_F(BootTest, AChangedFileIsAnotherPolicyWhenTheConfigurationIsReadAgain) {
  const std::string members =
      R"("cloud_config": "site.yaml", "boot_files": [{"path": "/f", "file": "f"}])";
  folder_.put("site.yaml", "#cloud-config\nhostname: a\n", 0644);
  folder_.put("f", "old", 0644);
  const auto old = pool(members);
  EXPECT_EQ(pool(members), old);
  folder_.put("f", "new", 0644);
  EXPECT_NE(pool(members), old);
  folder_.put("f", "old", 0644);
  folder_.put("site.yaml", "#cloud-config\nhostname: b\n", 0644);
  EXPECT_NE(pool(members), old);
}

TEST_F(BootTest, BootFilesHaveAnyBytes) {
  const std::string bytes("\0\xff\r\n\x01", 5);
  folder_.put("binary", bytes, 0644);
  const auto files = pool(R"("boot_files": [
      {"path": "/etc/it's", "content": "a\u0000b"},
      {"path": "/b", "file": "binary", "mode": "4755", "owner": "www-data:1000"}])")
                         .boot_files;
  EXPECT_EQ(*files, (std::vector<model::BootFile>{{"/etc/it's", std::string("a\0b", 3), 0644, ""},
                                                  {"/b", bytes, 04755, "www-data:1000"}}));
}

TEST_F(BootTest, RefusesACloudConfigThatCloudInitWouldNotTake) {
  EXPECT_THAT(problems(R"("cloud_config": "hostname: a\nfqdn: a.b\n")"),
              ElementsAre(AllOf(HasSubstr("pools[0].cloud_config"),
                                HasSubstr("its first line is \"hostname: a\", allowed: "
                                          "#cloud-config"))));
  EXPECT_THAT(problems(R"("cloud_config": "#!/bin/sh\ntrue\n")"), SizeIs(1));
  EXPECT_THAT(problems(R"("cloud_config": "#cloud-config-archive\n[]")"), SizeIs(1));
  EXPECT_THAT(problems(R"("cloud_config": "#cloud-config\na: \"\u0007\"\n")"),
              ElementsAre(HasSubstr("control character")));
  EXPECT_THAT(problems(R"("cloud_config": ["#cloud-config"])"), SizeIs(1));
  EXPECT_THAT(problems(R"("cloud_config": "missing.yaml")"),
              ElementsAre(HasSubstr("missing.yaml")));
  const std::string latin = folder_.put("latin.yaml", "#cloud-config\n# caf\xe9\n", 0644);
  EXPECT_THAT(problems(R"("cloud_config": "latin.yaml")"),
              ElementsAre(HasSubstr(latin + ": it must be UTF-8")));
  folder_.put("long.yaml", "#cloud-config\n" + std::string(64 * 1024, '#'), 0644);
  EXPECT_THAT(problems(R"("cloud_config": "long.yaml")"), SizeIs(1));
  folder_.put("open.yaml", "#cloud-config\n", 0666);
  EXPECT_THAT(problems(R"("cloud_config": "open.yaml")"), SizeIs(1)) << "others can change it";
}

TEST_F(BootTest, RefusesPathsThatAreNotPlainOrAreHostlersOwn) {
  const auto problem = [&](const std::string& path, const std::string& more = "") {
    const auto all = problems_of_file(R"("content": "", "path": ")" + path + '"', more);
    return all.empty() ? "good" : all[0];
  };
  EXPECT_EQ(problem("/etc/x"), "good");
  for (const char* path : {"", "x", "/", "/etc/", "/a//b", "/a/../b", "/./a", "/a\\nb", "~/x"})
    EXPECT_THAT(problem(path), HasSubstr("pools[0].boot_files[0].path")) << path;
  for (const char* path : {"/var/lib/hostler-agent", "/var/lib/hostler-agent/secret",
                           "/srv/.hostler-agent/x", "/etc/ssh/ssh_host_ed25519_key"})
    EXPECT_THAT(problem(path), HasSubstr("hostler itself keeps")) << path;
  EXPECT_EQ(problem("/var/lib/hostler-agents"), "good");
  EXPECT_EQ(problem("/srv/agent/x"), "good");
  EXPECT_THAT(problem("/srv/agent/x", R"("agent": {"folder": "/srv/agent"}, )"),
              HasSubstr("hostler itself keeps"));
}

TEST_F(BootTest, RefusesFilesThatSayTooLittleOrTooMuch) {
  EXPECT_THAT(problems_of_file(R"("path": "/x")"), ElementsAre(HasSubstr("one of `content` and")));
  folder_.put("f", "", 0644);
  EXPECT_THAT(problems_of_file(R"("path": "/x", "content": "", "file": "f")"),
              ElementsAre(HasSubstr("not both")));
  EXPECT_THAT(problems_of_file(R"("content": "")"), SizeIs(1));
  for (const char* mode : {R"("0888")", R"("10000")", R"("rw")", R"("")", "420", R"("-644")"})
    EXPECT_THAT(problems_of_file(std::string(R"("path": "/x", "content": "", "mode": )") + mode),
                ElementsAre(HasSubstr("boot_files[0].mode")))
        << mode;
  for (const char* owner : {"", "-R", "a:", ":a", "a:b:c", "a b", "a;id", "$(id)"})
    EXPECT_THAT(
        problems_of_file(std::string(R"("path": "/x", "content": "", "owner": ")") + owner + '"'),
        ElementsAre(HasSubstr("boot_files[0].owner")))
        << owner;
  EXPECT_THAT(problems(R"("boot_files": [{"path": "/x", "content": ""},
                                         {"path": "/x", "content": ""}])"),
              ElementsAre(HasSubstr("boot_files[1].path: found \"/x\" a second time")));
  for (const std::string other : {"/etc", "/etc/x/y"})
    EXPECT_THAT(problems(R"("boot_files": [{"path": "/etc/x", "content": ""},
                                           {"path": "/etc/xy", "content": ""},
                                           {"content": "", "path": ")" +
                         other + "\"}]"),
                ElementsAre(HasSubstr("boot_files[2].path: found \"" + other +
                                      "\" beside the file \"/etc/x")))
        << other;
}

TEST_F(BootTest, RefusesTooManyFilesAndTooManyBytes) {
  std::string files;
  for (int i = 0; i <= 100; ++i)
    files += std::string(i == 0 ? "" : ",") + R"({"content": "", "path": "/f)" + std::to_string(i) +
             "\"}";
  EXPECT_THAT(problems(R"("boot_files": [)" + files + "]"), SizeIs(1));
  folder_.put("half", std::string(65 * 1024, 'x'), 0644);
  EXPECT_THAT(problems(R"("boot_files": [{"path": "/a", "file": "half"},
                                         {"path": "/b", "file": "half"}])"),
              ElementsAre(HasSubstr("133120 bytes together, allowed: at most 131072")));
}

}  // namespace
}  // namespace hostler::config
