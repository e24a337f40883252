// Which drivers a site takes: driver_trust, driver_keys, driver_sha256.
#include <gmock/gmock.h>

#include "core/config/load.h"

namespace hostler::config {
namespace {

using model::DriverTrust;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

const std::string kKey = "MCowBQYDK2VwAyEAnBbhwsvxomLlX3aR18vt3QtY5zk68wmPzidyIV1Bq3E=";
const std::string kDigest(64, 'a');

/// `site`: members of the configuration.
Reading read_trusting(const std::string& site) {
  return read_text("{" + site + R"("sets": [], "pools": []})", "/etc/hostler",
                   {.surroundings = {.is_root = true}, .state_dir = {}});
}

std::vector<std::string> problems_with(const std::string& site) {
  std::vector<std::string> out;
  for (const Error& error : read_trusting(site).problems) out.push_back(error.message);
  return out;
}

TEST(DriverTrustTest, IsLocalUnlessTheSiteSaysMore) {
  EXPECT_EQ(read_trusting("").config.trusted_drivers.trust, DriverTrust::kLocal);

  const auto config =
      read_trusting(R"("driver_trust": "signed", "driver_keys": {"acme": ")" + kKey + R"("},)")
          .config;
  EXPECT_EQ(config.trusted_drivers.trust, DriverTrust::kSigned);
  EXPECT_THAT(config.trusted_drivers.keys, ElementsAre(Pair("acme", kKey)));

  const std::string pinned =
      R"("driver_trust": "pinned", "driver_sha256": {"local": ")" + kDigest + R"("},)";
  EXPECT_THAT(problems_with(pinned), IsEmpty());
  EXPECT_EQ(read_trusting(pinned).config.trusted_drivers.trust, DriverTrust::kPinned);
}

TEST(DriverTrustTest, ASiteThatWouldTakeNoDriverIsAMistake) {
  EXPECT_THAT(problems_with(R"("driver_trust": "signed",)"),
              ElementsAre(HasSubstr("\"signed\" needs a key in driver_keys")));
  EXPECT_THAT(problems_with(R"("driver_trust": "pinned",)"),
              ElementsAre(HasSubstr("\"pinned\" needs a digest in driver_sha256")));
  EXPECT_THAT(problems_with(R"("driver_trust": "all",)"), ElementsAre(HasSubstr("driver_trust")));
}

TEST(DriverTrustTest, AKeyIsNamedWithWhatIsWrong) {
  const auto with = [](const std::string& keys) {
    return problems_with(R"("driver_keys": )" + keys + ",");
  };
  EXPECT_THAT(with(R"({"acme": "AAAA"})"),
              ElementsAre(testing::AllOf(HasSubstr("driver_keys.acme"),
                                         HasSubstr("not a public key of ed25519"))));
  EXPECT_THAT(with(R"({"a": ")" + kKey + R"(", "b": ")" + kKey + R"("})"),
              ElementsAre(HasSubstr("it is the key \"a\", too")));
  EXPECT_THAT(with(R"({"A B": ")" + kKey + R"("})"), ElementsAre(HasSubstr("[a-z0-9_-]")));
  EXPECT_THAT(with(R"({"acme": 7})"), ElementsAre(HasSubstr("driver_keys.acme")));
}

}  // namespace
}  // namespace hostler::config
