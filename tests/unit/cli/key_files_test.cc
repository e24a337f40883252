#include "core/cli/key_files.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "core/base/files.h"
#include "tests/temp_folder.h"

namespace hostler::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class KeyFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* home = std::getenv("HOME");
    home_ = home == nullptr ? "" : home;
    ::setenv("HOME", folder_.path().c_str(), 1);
    std::filesystem::create_directory(folder_.path() / ".ssh");
  }
  void TearDown() override { ::setenv("HOME", home_.c_str(), 1); }
  /// The path of a file of ~/.ssh with this content.
  [[nodiscard]] std::string file(const std::string& name, const std::string& content) const {
    const auto path = folder_.path() / ".ssh" / name;
    EXPECT_TRUE(write_file(path, content, 0600));
    return path.string();
  }

 private:
  test::TempFolder folder_;
  std::string home_;
};

TEST_F(KeyFilesTest, TheDefaultIsTheBestOfTheKeysThatSshUses) {
  EXPECT_THAT(default_key_file().error().message, HasSubstr("--ssh-key"));
  const std::string rsa = file("id_rsa.pub", "");
  EXPECT_EQ(default_key_file().value(), rsa);
  const std::string edwards = file("id_ed25519.pub", "");
  EXPECT_EQ(default_key_file().value(), edwards);
}

TEST_F(KeyFilesTest, TheLinesOfAllFilesAreReadWithoutComments) {
  const auto lines =
      read_key_files({file("a", "# ann\n\nssh-ed25519 A ann\r\n"), file("b", "ssh-rsa B")});
  EXPECT_THAT(lines.value(), ElementsAre("ssh-ed25519 A ann", "ssh-rsa B"));
}

TEST_F(KeyFilesTest, APrivateKeyIsNotSentAnywhere) {
  const auto lines = read_key_files({file("id", "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n")});
  EXPECT_THAT(lines.error().message, HasSubstr("stays with you: name the file with .pub"));
}

TEST_F(KeyFilesTest, AFileThatIsNotThereIsAWrongArgument) {
  const auto lines = read_key_files({"/nonexist"});
  EXPECT_EQ(lines.error().code, Errc::kInvalidArgument);
  EXPECT_THAT(lines.error().message, testing::StartsWith("--ssh-key: "));
}

TEST_F(KeyFilesTest, SshGetsThePrivateKeyBesideAPublicOneOrAsksTheAgentForIt) {
  const std::string own = file("work", ""), both = file("work.pub", ""), agent = file("a.pub", "");
  EXPECT_THAT(identities_of({both, agent}), ElementsAre(own, agent));
}

}  // namespace
}  // namespace hostler::cli
