#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

#include "core/cli/commands.h"
#include "tests/temp_folder.h"

/// Errors of commands that are found without a daemon, and the exit status of each error.
namespace hostler::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

struct Said {
  int status = 0;
  std::string text;
};

Said hear(const std::function<int()>& command) {
  CaptureStderr();
  const int status = command();
  return {status, GetCapturedStderr()};
}

class ArgumentsTest : public testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("HOSTLER_URL");
    ::unsetenv("HOSTLER_TOKEN_FILE");
  }

  std::string put(const std::string& name, const std::string& text, unsigned mode = 0600) const {
    return folder.put(name, text, mode);
  }
  /// The socket does not exist, so no daemon answers.
  Said submit_to_nobody(const SubmitOptions& options) const {
    auto endpoint = Endpoint::find("unix://" + (folder / "none.sock").string(), "");
    Client client(std::move(*endpoint));
    return hear([&] { return submit(client, options); });
  }

  test::TempFolder folder;
};

TEST_F(ArgumentsTest, EachErrorHasItsExitStatus) {
  const std::vector<std::pair<Errc, int>> table{
      {Errc::kInvalidArgument, 2}, {Errc::kTooLarge, 2},  {Errc::kUnavailable, 3},
      {Errc::kNotFound, 4},        {Errc::kForbidden, 5}, {Errc::kConflict, 5},
      {Errc::kMisbehaving, 1},     {Errc::kInternal, 1},  {Errc::kOutcomeUnknown, 1},
      {Errc::kOverQuota, 6},
  };
  for (const auto& [code, status] : table) {
    const auto said = hear([code = code] { return complain({code, "because"}); });
    EXPECT_EQ(said.status, status) << to_string(code);
    EXPECT_EQ(said.text, "hostler: because\n");
  }
}

TEST_F(ArgumentsTest, ASubmitNeedsExactlyOneThingToRun) {
  SubmitOptions none;
  SubmitOptions two;
  two.command = {"true"};
  two.script = "x.sh";
  for (const auto& options : {none, two}) {
    const auto said = submit_to_nobody(options);
    EXPECT_EQ(said.status, exit_code::kUsage);
    EXPECT_THAT(said.text, HasSubstr("exactly one"));
  }
}

TEST_F(ArgumentsTest, WrongWordsAreNamedBeforeAnyDaemonIsAsked) {
  struct Row {
    std::function<void(SubmitOptions&)> change;
    std::string message;
  };
  const std::vector<Row> table{
      {[](auto& o) { o.ram = "much"; }, "needs.ram: 'much'"},
      {[](auto& o) { o.ram = "512"; }, "needs.ram"},
      {[](auto& o) { o.gpus = "2", o.gpu_memory = "40"; }, "needs.gpus.memory"},
      {[](auto& o) { o.gpus = "0", o.gpu_memory = "40GiB"; }, "needs.gpus.count"},
      {[](auto& o) { o.time_limit = "10"; }, "time_limit"},
      {[](auto& o) { o.market = "black"; }, "constraints.market"},
      {[](auto& o) { o.env = {"NOVALUE"}; }, "--env NOVALUE: NAME=VALUE"},
      {[](auto& o) { o.env = {"1X=y"}; }, "env"},
      {[](auto& o) { o.inputs = {"../up=/etc/passwd"}; }, "inputs[0].path"},
      {[](auto& o) { o.outputs = {"/etc/*"}; }, "outputs[0]"},
      {[](auto& o) { o.stdin_file = "/nonexistent"; }, "/nonexistent"},
  };
  for (const Row& row : table) {
    SubmitOptions options;
    options.command = {"true"};
    row.change(options);
    const auto said = submit_to_nobody(options);
    EXPECT_THAT(said.text, HasSubstr(row.message));
    EXPECT_NE(said.status, exit_code::kNoDaemon) << row.message;
    EXPECT_NE(said.status, exit_code::kOk);
  }
}

TEST_F(ArgumentsTest, ABadLineOfAJobsFileIsNamedByItsNumber) {
  SubmitOptions options;
  options.file = put("jobs.jsonl",
                     "{\"script\": \"true\"}\n"
                     "\n"
                     "{\"script\": \"true\", \"priority\": \"high\"}\n");
  const auto said = submit_to_nobody(options);
  EXPECT_EQ(said.status, exit_code::kUsage);
  EXPECT_THAT(said.text, AllOf(HasSubstr("jobs.jsonl line 3"), HasSubstr("priority")));
}

TEST_F(ArgumentsTest, AFileThatIsNotThereIsNamed) {
  SubmitOptions options;
  options.file = folder / "none.jsonl";
  EXPECT_THAT(submit_to_nobody(options).text, HasSubstr("none.jsonl"));
  SubmitOptions script;
  script.script = folder / "none.sh";
  EXPECT_THAT(submit_to_nobody(script).text, HasSubstr("none.sh"));
}

TEST_F(ArgumentsTest, AMissingDaemonIsSaidWithWhatToDo) {
  SubmitOptions options;
  options.command = {"true"};
  const auto said = submit_to_nobody(options);
  EXPECT_EQ(said.status, exit_code::kNoDaemon);
  EXPECT_THAT(said.text, AllOf(HasSubstr("none.sock"), HasSubstr("is hostlerd running?"),
                               HasSubstr("HOSTLER_URL")));
}

TEST_F(ArgumentsTest, AConfigurationIsCheckedForProgramsToo) {
  const std::string file = put("bad.json", R"({"types": 1, "sets": [], "pools": []})");
  testing::internal::CaptureStdout();
  EXPECT_EQ(config_check(file, true), exit_code::kFailed);
  const auto said = json::Document::parse(testing::internal::GetCapturedStdout());
  ASSERT_TRUE(said);
  EXPECT_FALSE(said->root().at("good").bool_or(true));
  const auto errors = said->root().at("errors");
  ASSERT_EQ(errors.size(), 1U);
  for (const auto one : errors.children()) EXPECT_EQ(one.at("path").text(), "types");
}

TEST_F(ArgumentsTest, DriversAreListedForProgramsToo) {
  put("bad.hostler.json", "{");
  testing::internal::CaptureStdout();
  // This build may have drivers, or none.
  (void)driver_list(
      {.name = {}, .config = {}, .folders = {folder / "none", folder.path()}, .json = true});
  const std::string text = testing::internal::GetCapturedStdout();
  const auto said = json::Document::parse(text);
  ASSERT_TRUE(said) << text;
  std::string tried;
  for (const auto one : said->root().at("tried").children())
    tried += std::string(one.at("path").text()) + "\n";
  EXPECT_THAT(tried, AllOf(HasSubstr((folder / "none").string() + "\n"),
                           HasSubstr((folder / "bad.hostler.json").string() + "\n")));
}

TEST_F(ArgumentsTest, TheDaemonIsFoundByArgumentThenEnvironment) {
  EXPECT_EQ(Endpoint::find("unix:///a/b", "")->socket_path, "/a/b");
  EXPECT_EQ(Endpoint::find("http://h:1/", "")->base, "http://h:1");
  ::setenv("HOSTLER_URL", "unix:///from/environment", 1);
  EXPECT_EQ(Endpoint::find("", "")->socket_path, "/from/environment");
  EXPECT_EQ(Endpoint::find("https://h:2", "")->base, "https://h:2");
  EXPECT_THAT(Endpoint::find("ftp://h", "").error().message, HasSubstr("'ftp://h'"));
  ::unsetenv("HOSTLER_URL");
  EXPECT_TRUE(Endpoint::find("", "")->url.starts_with("unix:///"));
}

TEST_F(ArgumentsTest, ATokenComesFromAFileWithoutItsNewline) {
  EXPECT_EQ(Endpoint::find("https://h:1", put("token", "sesame\r\n"))->token, "sesame");
  const auto missing = Endpoint::find("https://h:1", folder / "none");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, AllOf(HasSubstr("token file"), HasSubstr("none")));
}

TEST_F(ArgumentsTest, ATokenIsNotSentOverPlainHttpBeyondThisMachine) {
  const auto token = put("token", "sesame");
  for (const std::string url : {"http://127.0.0.1:1", "http://127.3.2.1", "http://localhost:1/",
                                "http://[::1]:1", "https://h:1", "unix:///a/b"})
    EXPECT_TRUE(Endpoint::find(url, token)) << url;
  for (const std::string url :
       {"http://h:1", "http://10.0.0.1", "http://127.0.0.1@h:1", "http://127.0.0.1.h:1",
        "http://localhost.h", "http://[::2]:1", "http://h#@127.0.0.1", "http://0.0.0.0"}) {
    const auto refused = Endpoint::find(url, token);
    ASSERT_FALSE(refused) << url;
    EXPECT_THAT(refused.error().message, AllOf(HasSubstr(url), HasSubstr("https://")));
    EXPECT_THAT(refused.error().message, testing::Not(HasSubstr("sesame")));
    EXPECT_TRUE(Endpoint::find(url, "")) << "without a token nothing is given away";
  }
}

TEST_F(ArgumentsTest, ATokenThatOthersCanReadIsNotUsed) {
  for (const auto& [mode, text] :
       {std::pair{0644U, "0644"}, {0640U, "0640"}, {0604U, "0604"}, {0620U, "0620"}}) {
    const auto file = put("token", "sesame", mode);
    const auto refused = Endpoint::find("https://h:1", file);
    ASSERT_FALSE(refused) << text;
    EXPECT_THAT(refused.error().message,
                AllOf(HasSubstr(file), HasSubstr(text), HasSubstr("chmod 600")));
  }
  EXPECT_TRUE(Endpoint::find("https://h:1", put("token", "sesame", 0400)));
  if (::geteuid() != 0) return;
  const auto file = put("token", "sesame");
  ASSERT_EQ(::chown(file.c_str(), 65534, 65534), 0);
  EXPECT_THAT(Endpoint::find("https://h:1", file).error().message,
              AllOf(HasSubstr(file), HasSubstr("belongs to uid 65534")));
}

TEST_F(ArgumentsTest, ATokenFileThatIsNoFileIsRefused) {
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& file : {pipe, folder.path().string(), std::string("/dev/zero")})
    EXPECT_THAT(Endpoint::find("https://h:1", file).error().message,
                HasSubstr("not a regular file"))
        << file;
  EXPECT_THAT(Endpoint::find("https://h:1", put("token", std::string(5000, 'x'))).error().message,
              HasSubstr("larger than 4096"));
}

TEST(EscapeTest, WhatIsNotPlainIsEscaped) {
  EXPECT_EQ(escape("j-42"), "j-42");
  EXPECT_EQ(escape("gate west quota=1&x"), "gate%20west%20quota%3d1%26x");
  EXPECT_EQ(escape("a/b?c#\xc3\xa9%"), "a%2fb%3fc%23%c3%a9%25");
}

}  // namespace
}  // namespace hostler::cli
