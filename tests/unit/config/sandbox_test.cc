// What drivers may do: sandbox_min, sets[].sandbox, sets[].readable.
#include <gmock/gmock.h>

#include "core/config/load.h"

namespace hostler::config {
namespace {

using model::Sandbox;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// `site`: members of the configuration; `set`: members of its only set.
Reading read_confined(const std::string& site, const std::string& set) {
  return read_text("{" + site +
                       R"("types": [{"name": "t", "vcpus": 1, "ram": "1GiB", "price": 0.01}],
  "sets": [{"name": "s", "driver": "cloud")" +
                       set + R"(}],
  "pools": [{"name": "p", "sets": ["s"], "types": ["t"]}]})",
                   "/etc/hostler", {.surroundings = {.is_root = true}, .state_dir = {}});
}

std::vector<std::string> problems_of(const std::string& site, const std::string& set) {
  std::vector<std::string> out;
  for (const Error& error : read_confined(site, set).problems) out.push_back(error.message);
  return out;
}

TEST(SandboxTest, IsTheDriversDefaultUnlessTheSetSaysAnother) {
  const auto sandbox_of = [](const std::string& set) {
    return read_confined("", set).config.sets.at(0).sandbox;
  };

  EXPECT_EQ(sandbox_of(""), std::nullopt);
  EXPECT_EQ(sandbox_of(R"(, "sandbox": "full")"), Sandbox::kFull);
  EXPECT_EQ(sandbox_of(R"(, "sandbox": "files")"), Sandbox::kFiles);
  EXPECT_EQ(sandbox_of(R"(, "sandbox": "none")"), Sandbox::kNone);
  EXPECT_EQ(read_confined("", "").config.sandbox_min, Sandbox::kNone);
}

TEST(SandboxTest, ASetWithLessThanTheSiteRequiresIsAnError) {
  const std::string min = R"("sandbox_min": "files",)";

  EXPECT_THAT(problems_of(min, R"(, "sandbox": "none")"),
              ElementsAre(HasSubstr("sets[0].sandbox: sandbox_min is \"files\"")));
  for (const char* enough : {"", R"(, "sandbox": "files")", R"(, "sandbox": "full")"})
    EXPECT_THAT(problems_of(min, enough), IsEmpty()) << enough;
}

TEST(ReadableTest, IsAListOfPathsOutsideOfTheStateFolder) {
  EXPECT_THAT(read_confined("", R"(, "readable": ["/etc/cloud/ca.pem", "cloud.key"])")
                  .config.sets.at(0)
                  .readable,
              ElementsAre("/etc/cloud/ca.pem", "/etc/hostler/cloud.key"));
  for (const char* path : {"/", "/var/lib", "/var/lib/hostler", "/var/lib/hostler/",
                           "${state_dir}/x", "/usr/../var/lib/hostler/x"})
    EXPECT_THAT(problems_of("", std::string(R"(, "readable": [")") + path + R"("])"),
                ElementsAre(HasSubstr("sets[0].readable[0]: the state folder /var/lib/hostler must "
                                      "not be readable for drivers")))
        << path;
  for (const char* path : {"/var/lib/hostler-local", "/var/cache", "/srv"})
    EXPECT_THAT(problems_of("", std::string(R"(, "readable": [")") + path + R"("])"), IsEmpty())
        << path;
}

}  // namespace
}  // namespace hostler::config
