#include <gmock/gmock.h>

#include "core/base/files.h"
#include "core/config/load.h"
#include "core/crypto/hash.h"
#include "core/crypto/ssh_keys.h"
#include "tests/temp_folder.h"

namespace hostler::config {
namespace {

using testing::HasSubstr;
using testing::Not;

Reading read_with(const test::TempFolder& folder, const std::string& top, const std::string& set) {
  return read_text("{" + top + R"(
      "types": [{"name": "t", "vcpus": 1, "ram": "1GiB", "price": 0.01}],
      "sets": [{"name": "s", "driver": "local")" +
                       set + R"(}], "pools": [{"name": "p", "sets": ["s"], "types": ["t"]}]})",
                   folder.path(), {.surroundings = {.is_root = true}, .state_dir = {}});
}

std::string first_problem(const Reading& reading) {
  return reading.problems.empty() ? "good" : reading.problems[0].message;
}

TEST(FilesTest, ReadsCredentialsAndKeysAndTokens) {
  const test::TempFolder folder;
  const auto pair = crypto::make_ed25519_key("test");
  folder.put("c", R"({ "token": "hush" })");
  folder.put("k", pair.private_key);
  folder.put("t", R"({"tokens": [{"name": "ci", "role": "submit", "sha256": ")" +
                      crypto::sha256_hex("x") + "\"}]}");

  const Reading reading =
      read_with(folder, R"("access": {"tcp": {"port": 1, "tokens_file": "t"}},)",
                R"(, "credentials_file": "c", "user_key_files": ["k"])");

  ASSERT_EQ(first_problem(reading), "good");
  const Set& set = reading.config.sets[0];
  EXPECT_EQ(set.credentials_json, R"({"token":"hush"})");
  ASSERT_EQ(set.user_keys.size(), 1U);
  EXPECT_EQ(set.user_keys[0].private_key, pair.private_key);
  EXPECT_THAT(pair.public_key, HasSubstr(set.user_keys[0].public_key));
  EXPECT_EQ(reading.config.access.tokens,
            (std::vector<Token>{{"ci", "submit", crypto::sha256_hex("x")}}));
}

TEST(FilesTest, RefusesSecretsThatOthersCanRead) {
  const test::TempFolder folder;
  folder.put("c", "{}", 0640);

  EXPECT_THAT(first_problem(read_with(folder, "", R"(, "credentials_file": "c")")),
              HasSubstr("sets[0].credentials_file: " + (folder.path() / "c").string() +
                        " holds a secret but is open to group or others: chmod 600 it"));
}

TEST(FilesTest, ReadsCredentialsOfAVariable) {
  const test::TempFolder folder;
  ::setenv("HOSTLER_TEST_CREDENTIALS", R"({ "token": "hush" })", 1);

  const Reading reading =
      read_with(folder, "", R"(, "credentials_environment": "HOSTLER_TEST_CREDENTIALS")");

  ASSERT_EQ(first_problem(reading), "good");
  EXPECT_EQ(reading.config.sets[0].credentials_json, R"({"token":"hush"})");
  EXPECT_EQ(first_problem(read_with(folder, "", R"(, "credentials_environment": "NO_SUCH")")),
            "sets[0].credentials_environment: the environment variable NO_SUCH is not set "
            "(at 3:76)");
}

TEST(FilesTest, ReadsACommandForCredentialsAndDoesNotRunIt) {
  const test::TempFolder folder;

  const Reading reading = read_with(
      folder, "",
      R"(, "credentials_command": ["${config_dir}/print", "x"], "credentials_interval": "1h")");

  ASSERT_EQ(first_problem(reading), "good");
  const CredentialSource& source = reading.config.sets[0].credentials;
  EXPECT_EQ(source.command, (std::vector<std::string>{(folder.path() / "print").string(), "x"}));
  EXPECT_EQ(source.interval, 1h);
  EXPECT_EQ(reading.config.sets[0].credentials_json, "");
}

TEST(FilesTest, RefusesSourcesOfCredentialsThatCannotBe) {
  const test::TempFolder folder;
  folder.put("c", "{}");
  const auto problem = [&](const std::string& set) {
    return first_problem(read_with(folder, "", ", " + set));
  };

  EXPECT_THAT(problem(R"("credentials_file": "c", "credentials_command": ["/bin/true"])"),
              HasSubstr("sets[0].credentials_command: a set has one of credentials_file"));
  EXPECT_THAT(problem(R"("credentials_command": ["true"])"),
              HasSubstr("must begin with the absolute path of a program"));
  EXPECT_THAT(problem(R"("credentials_command": [])"),
              HasSubstr("must begin with the absolute path of a program"));
  EXPECT_THAT(problem(R"("credentials_environment": "A-B")"),
              HasSubstr("must be the name of an environment variable"));
  EXPECT_THAT(problem(R"("credentials_interval": "0s")"), HasSubstr("credentials_interval"));
}

TEST(FilesTest, SaysWhichFileIsMissing) {
  const test::TempFolder folder;

  EXPECT_THAT(first_problem(read_with(folder, "", R"(, "user_key_files": ["gone"])")),
              HasSubstr("sets[0].user_key_files[0]: open " + (folder.path() / "gone").string()));
}

TEST(FilesTest, NeverQuotesSecrets) {
  const test::TempFolder folder;
  folder.put("c", R"({"hush": "hush", "hush": 1})");
  folder.put("k", "hush");
  folder.put("t", R"({"tokens": [{"name": "ci", "role": "submit", "sha256": "hush"}]})");

  const Reading reading =
      read_with(folder, R"("access": {"tcp": {"port": 1, "tokens_file": "t"}},)",
                R"(, "credentials_file": "c", "user_key_files": ["k"])");

  ASSERT_EQ(reading.problems.size(), 3U);
  for (const Error& problem : reading.problems)
    EXPECT_THAT(problem.message, Not(HasSubstr("hush")));
}

TEST(FilesTest, RefusesRsaKeysAtLoad) {
  const test::TempFolder folder;
  const std::string file = (folder.path() / "rsa").string();
  const std::string make = "ssh-keygen -q -t rsa -b 2048 -N '' -f " + file;
  ASSERT_EQ(std::system(make.c_str()), 0);

  const std::string problem =
      first_problem(read_with(folder, "", R"(, "user_key_files": ["rsa"])"));

  EXPECT_THAT(problem, HasSubstr("sets[0].user_key_files[0]"));
  EXPECT_THAT(problem, HasSubstr("RSA"));
}

}  // namespace
}  // namespace hostler::config
