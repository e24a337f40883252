#include "images.h"

#include <gmock/gmock.h>

#include "tests/unit/lxd/set_fixture.h"

namespace hostler::lxd::test {
namespace {

class LxdImagesTest : public LxdSetTest {
 protected:
  /// The ids of what is found among three images.
  std::string found() {
    play.sync(R"([{"fingerprint":"f1","type":"container","architecture":"x86_64","public":true,
        "aliases":[{"name":"debian-12"},{"name":"stable"}],"created_at":"2026-03-01T00:00:00Z",
        "properties":{"os":"debian","release":"12"},
        "update_source":{"server":"https://images.example","protocol":"simplestreams"}},
       {"fingerprint":"f2","type":"container","architecture":"aarch64","aliases":[],
        "properties":{"os":"debian","description":"Debian by hand"},
        "created_at":"1970-01-01T00:00:00Z","uploaded_at":"2026-04-01T00:00:00Z"},
       {"fingerprint":"f3","type":"virtual-machine","architecture":"x86_64",
        "aliases":[{"name":"debian-vm"}],"properties":{"os":"debian"}}])");
    call = std::make_unique<Call>();
    status = call->run([&] { set->find_images(request, &call->op); });
    std::string out;
    for (const SeenImage& one : call->images) out += (out.empty() ? "" : " ") + one.id;
    return out;
  }

  hostler_images_req request = driver::sized<hostler_images_req>();
  std::unique_ptr<Call> call;
  hostler_status status = 0;
};

TEST_F(LxdImagesTest, AllThatAContainerCanBeMadeOfAreFound) {
  EXPECT_EQ(found(), "f1 f2") << call->message();

  EXPECT_EQ(call->images[0].name, "debian-12");
  EXPECT_EQ(call->images[0].owner, "https://images.example");
  EXPECT_EQ(call->images[0].architecture, "x86_64");
  EXPECT_EQ(call->images[0].created, 1'772'323'200'000'000'000);
  EXPECT_EQ(call->images[1].name, "Debian by hand");
  EXPECT_EQ(call->images[1].owner, "local");
  EXPECT_EQ(call->images[1].created, 1'775'001'600'000'000'000) << "the time it was put there";
}

TEST_F(LxdImagesTest, ByAnyOfTheirNames) {
  const auto named = [&](const char* name) {
    request.name = driver::str(name);
    return found();
  };
  EXPECT_EQ(named("debian-12"), "f1");
  EXPECT_EQ(named("debian-*"), "f1");
  EXPECT_EQ(named("st*le"), "f1");
  EXPECT_EQ(call->images[0].name, "stable") << "the name by which it was found";
  EXPECT_EQ(named("* by hand"), "f2");
  EXPECT_EQ(named("f2"), "f2");
  EXPECT_EQ(named("debian"), "");
  EXPECT_EQ(status, HOSTLER_OK);
}

TEST_F(LxdImagesTest, ByOwnerArchitectureAndProperties) {
  request.owner = HOSTLER_STR("local");
  EXPECT_EQ(found(), "f2");
  request.owner = {};
  request.architecture = HOSTLER_STR("x86_64");
  EXPECT_EQ(found(), "f1");
  request.architecture = {};
  hostler_kv filter{HOSTLER_STR("release"), HOSTLER_STR("12")};
  request.filters = &filter, request.n_filters = 1;
  EXPECT_EQ(found(), "f1");
  filter.value = HOSTLER_STR("13");
  EXPECT_EQ(found(), "");
  EXPECT_EQ(status, HOSTLER_OK);
  filter = {HOSTLER_STR("public"), HOSTLER_STR("false")};
  EXPECT_EQ(found(), "f2");
  filter = {HOSTLER_STR("relaese"), HOSTLER_STR("12")};
  EXPECT_EQ(found(), "");
  EXPECT_EQ(status, HOSTLER_E_INVALID);
  EXPECT_THAT(call->message(), ::testing::HasSubstr("no image of this LXD has the property"));
}

TEST_F(LxdImagesTest, AListThatCannotBeReadToItsEndIsAnError) {
  for (const char* metadata : {"{}", "[{}]", "null", R"([{"fingerprint":"f1"},7])"}) {
    play.sync(metadata);
    Call broken;
    EXPECT_EQ(broken.run([&] { set->find_images(request, &broken.op); }), HOSTLER_E_TRANSIENT);
    EXPECT_TRUE(broken.images.empty());
  }
}

TEST(LxdMatchesTest, AStarStandsForAnyText) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("a*", "a"));
  EXPECT_TRUE(matches("*a*b*", "xaabb"));
  EXPECT_TRUE(matches("a.b", "a.b"));
  EXPECT_FALSE(matches("a.b", "axb"));
  EXPECT_FALSE(matches("a?b", "axb"));
  EXPECT_FALSE(matches("*a", "ab"));
  EXPECT_FALSE(matches("", "a"));
  // No time without an end either.
  EXPECT_FALSE(matches(std::string(40, '*') + "b", std::string(100'000, 'a')));
}

}  // namespace
}  // namespace hostler::lxd::test
