#include "core/plugin_host/signature_file.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "core/base/files.h"
#include "core/crypto/signature.h"
#include "core/plugin_host/discovery.h"
#include "tests/temp_folder.h"

/// Which drivers a site takes by driver_trust.
namespace hostler::plugin_host {
namespace {

namespace fs = std::filesystem;
using model::DriverTrust;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Made for this test.
constexpr const char* kSigningKey = R"(-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIB+SSQIxoI/YJC0/qWzUH8X6AweXjuRLZtzc/tR1HJ5L
-----END PRIVATE KEY-----
)";
constexpr const char* kOtherPublicKey =
    "MCowBQYDK2VwAyEAx61RmK14RkmiDa3ocon1Huvuujj4SlYRhDh3savhcx8=";

class SignatureFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const fs::path drivers = HOSTLER_TEST_DRIVERS "/fake_chaos";
    for (const char* name : {"fake_chaos.hostler.so", "fake_chaos.hostler.json"}) {
      fs::copy_file(drivers / name, folder_ / name);
      fs::permissions(folder_ / name, fs::perms(0644));
    }
    manifest_ = folder_ / "fake_chaos.hostler.json";
    signature_ = signature_path(manifest_);
    key_ = folder_ / "key.pem";
    ASSERT_TRUE(write_file(key_, kSigningKey, 0600));
    rules_.trusted.trust = DriverTrust::kSigned;
    rules_.trusted.keys = {{"acme", *crypto::public_key_of(kSigningKey)},
                           {"other", kOtherPublicKey}};
  }
  void sign() { ASSERT_TRUE(sign_manifest(manifest_, key_)); }
  [[nodiscard]] std::string text_of(const fs::path& file) const {
    return *read_file(file, kManifestMax);
  }
  /// Why the driver is not taken; empty: it is.
  [[nodiscard]] std::string refusal() const {
    const auto found = discover({folder_.path()}, rules_).find("fake_chaos");
    return found ? std::string() : found.error().message;
  }

  test::TempFolder folder_;
  fs::path manifest_, signature_, key_;
  DriverRules rules_;
};

TEST_F(SignatureFileTest, ASignedDriverIsTakenAndItsKeyIsNamed) {
  sign();
  const auto all = discover({folder_.path()}, rules_);
  ASSERT_EQ(all.drivers.size(), 1U);
  EXPECT_EQ(all.drivers[0].signed_by, "acme");
  EXPECT_THAT(all.tried[0].outcome, HasSubstr("signed by acme"));
  EXPECT_EQ(text_of(signature_).size(), crypto::kSignatureSize);
}

TEST_F(SignatureFileTest, ADriverWithoutASignatureIsNotTaken) {
  EXPECT_THAT(refusal(), AllOf(HasSubstr(signature_.string()), HasSubstr("hostler driver sign")));
  rules_.trusted.trust = DriverTrust::kLocal;
  EXPECT_THAT(refusal(), IsEmpty());
}

TEST_F(SignatureFileTest, AManifestThatWasChangedIsNotTaken) {
  sign();
  ASSERT_TRUE(write_file(manifest_, text_of(manifest_) + " ", 0644));
  EXPECT_THAT(refusal(), HasSubstr("acme, other"));
}

TEST_F(SignatureFileTest, ASignatureThatIsNoneIsNotTaken) {
  sign();
  const std::string good = text_of(signature_);
  for (const auto& bad : {std::string(), good.substr(1), good + "x", std::string(64, 'x'),
                          std::string(100'000, 'x')}) {
    ASSERT_TRUE(write_file(signature_, bad, 0644));
    EXPECT_THAT(refusal(), HasSubstr(signature_.string())) << bad.size();
  }
}

TEST_F(SignatureFileTest, ASignatureByAKeyThatTheSiteDoesNotHaveIsNotTaken) {
  sign();
  rules_.trusted.keys.erase("acme");
  EXPECT_THAT(refusal(), HasSubstr("no key of driver_keys (other)"));
  rules_.trusted.keys.clear();
  EXPECT_THAT(refusal(), HasSubstr("no key of driver_keys (none)"));
}

TEST_F(SignatureFileTest, ASignatureThatOthersMayWriteToIsNotTaken) {
  sign();
  fs::permissions(signature_, fs::perms(0666));
  EXPECT_THAT(refusal(), AllOf(HasSubstr("writable"), HasSubstr(signature_.string())));
}

TEST_F(SignatureFileTest, ALibraryThatWasReplacedIsNotSigned) {
  const fs::path library = folder_ / "fake_chaos.hostler.so";
  const std::string content = *read_file(library, 64U << 20U);
  ASSERT_TRUE(write_file(library, content + "x", 0644));

  const auto done = sign_manifest(manifest_, key_);

  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("is not the file that"));
  EXPECT_FALSE(fs::exists(signature_));
}

TEST_F(SignatureFileTest, AKeyThatOthersMayReadIsNotUsed) {
  fs::permissions(key_, fs::perms(0640));
  const auto done = sign_manifest(manifest_, key_);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr(key_.string()));
  EXPECT_FALSE(fs::exists(signature_));
}

TEST_F(SignatureFileTest, APinnedSiteTakesNoDriverWithoutADigest) {
  rules_.trusted = {.trust = DriverTrust::kPinned, .sha256 = {{"another", std::string(64, 'a')}}};
  EXPECT_THAT(refusal(), AllOf(HasSubstr("\"pinned\""), HasSubstr("it would be")));
  rules_.trusted.sha256["fake_chaos"] =
      std::string(64, 'a');  // The library is compared when it is loaded.
  EXPECT_THAT(refusal(), IsEmpty());
}

}  // namespace
}  // namespace hostler::plugin_host
