#include "config.h"

#include <gmock/gmock.h>

#include <hostler/driver.hpp>

namespace hostler::lxd {
namespace {

using ::testing::HasSubstr;

const std::string kPin(64, 'a');

std::string problem(const std::string& json) {
  try {
    read_config(json);
  } catch (const driver::Error& wrong) {
    return wrong.what();
  }
  return "";
}

TEST(LxdConfigTest, NeedsASocketOrAServer) {
  EXPECT_EQ(read_config(R"({"socket": "/s"})").project, "default");
  EXPECT_EQ(read_config(R"({"socket": "/s"})").instance.profiles,
            std::vector<std::string>{"default"});
  EXPECT_THAT(problem("{}"), HasSubstr("socket or url must be there"));
  EXPECT_THAT(problem(R"({"socket": "/s", "url": "https://a"})"), HasSubstr("not both"));
  EXPECT_THAT(problem(R"({"socket": "s"})"), HasSubstr("absolute"));
}

TEST(LxdConfigTest, ReadsEveryKeyOfItsSchema) {
  const Config config = read_config(R"({"url": "https://a:8443", "project": "p",
      "server_certificate_sha256": ")" +
                                    kPin + R"(", "region": "r", "image": "i",
      "profiles": ["x", "y"], "config": {"limits.processes": "9"},
      "limits": "none"})");

  EXPECT_EQ(config.url, "https://a:8443");
  EXPECT_EQ(config.server_certificate_sha256, kPin);
  EXPECT_EQ(config.instance.profiles, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(config.instance.config.at("limits.processes"), "9");
  EXPECT_FALSE(config.limits_from_type);
  EXPECT_EQ(read_config(R"({"url": "https://a", "ca_file": "/c"})").ca_file, "/c");
}

TEST(LxdConfigTest, NamesTheFieldThatIsWrong) {
  EXPECT_THAT(problem(R"({"url": "http://a"})"), HasSubstr("url must be"));
  EXPECT_THAT(problem(R"({"url": "https://a/1.0"})"), HasSubstr("url must be"));
  EXPECT_THAT(problem(R"({"url": "https://a", "server_certificate_sha256": "AB"})"),
              HasSubstr("certificate_fingerprint"));
  EXPECT_THAT(problem(R"({"socket": "/s", "ca_file": "/c"})"), HasSubstr("ca_file needs url"));
  EXPECT_THAT(problem(R"({"socket": "/s", "projekt": "p"})"), HasSubstr("projekt is unknown"));
  EXPECT_THAT(problem(R"({"socket": "/s", "remote_user": "u"})"),
              HasSubstr("remote_user was removed: use sets[].remote_user"));
  EXPECT_THAT(problem(R"({"socket": "/s", "config": {"user.x": "1"}})"),
              HasSubstr("config.user.x is set by hostler"));
}

TEST(LxdConfigTest, SizesHaveUnitsAndPricesACurrency) {
  const Config config = read_config(R"({"socket": "/s", "currency": "EUR", "sizes": [
      {"name": "small", "vcpus": 2, "ram": "2GiB", "scratch": "10GB", "price": 0.02},
      {"name": "free", "vcpus": 1, "ram": "512MiB"}]})");

  ASSERT_EQ(config.sizes.size(), 2u);
  const Size& small = *config.size("small");
  EXPECT_EQ(small.vcpus, 2);
  EXPECT_EQ(small.ram_bytes, std::int64_t{2} << 30);
  EXPECT_EQ(small.scratch_bytes, 10'000'000'000);
  EXPECT_EQ(small.price_micros, 20'000);
  EXPECT_EQ(config.size("free")->price_micros, -1);
  EXPECT_EQ(config.size("large"), nullptr);

  const auto wrong = [](const std::string& rest) {
    return problem(R"({"socket": "/s", )" + rest + "}");
  };
  EXPECT_THAT(wrong(R"("sizes": [{"name": "s", "vcpus": 1, "ram": "1GiB", "price": 1}])"),
              HasSubstr("sizes[0].price needs `currency`"));
  EXPECT_THAT(wrong(R"("sizes": [{"name": "s", "vcpus": 1}])"), HasSubstr("ram is missing"));
  EXPECT_THAT(wrong(R"("sizes": [{"name": "s", "vcpus": 1, "ram": "1 gig"}])"),
              HasSubstr("a size up to 1 PiB"));
  EXPECT_THAT(wrong(R"("sizes": [{"name": "s", "vcpus": 1, "ram": "9999999TiB"}])"),
              HasSubstr("a size up to 1 PiB"));
  EXPECT_THAT(wrong(R"("sizes": [{"name": "s", "vcpus": 1, "ram": "1GiB"},
                                 {"name": "s", "vcpus": 1, "ram": "1GiB"}])"),
              HasSubstr("sizes[1].name occurs twice"));
  EXPECT_THAT(wrong(R"("currency": "euro")"), HasSubstr("ISO 4217"));
}

TEST(LxdConfigTest, CredentialsAreNeverShown) {
  const Config config = read_config(R"({"url": "https://a"})");
  try {
    read_credentials(R"({"client_key": "SECRET"})", config);
    FAIL() << "taken";
  } catch (const driver::Error& wrong) {
    EXPECT_THAT(wrong.what(), HasSubstr("need each other"));
    EXPECT_THAT(wrong.what(), ::testing::Not(HasSubstr("SECRET")));
  }
  EXPECT_THROW(read_credentials("", config), driver::Error);
  EXPECT_NO_THROW(read_credentials("", read_config(R"({"socket": "/s"})")));
}

TEST(LxdConfigTest, ATypeHasProfilesInsteadAndKeysBesideThoseOfTheSet) {
  const InstanceConfig of_set{{"default"}, {{"a", "1"}, {"b", "1"}}};
  const InstanceConfig out = read_params(R"({"profiles": ["gpu"], "config": {"b": "2"}})", of_set);

  EXPECT_EQ(out.profiles, std::vector<std::string>{"gpu"});
  EXPECT_EQ(out.config, (std::map<std::string, std::string>{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(read_params("", of_set).profiles, of_set.profiles);
  EXPECT_THROW(read_params(R"({"type": "virtual-machine"})", of_set), driver::Error);
}

}  // namespace
}  // namespace hostler::lxd
