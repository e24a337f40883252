#include <gmock/gmock.h>

#include <string>

#include "core/config/load.h"

/// `gpus` of types. core/json/gpus.h has the form, and its tests have all that is refused.
namespace hostler::config {
namespace {

using model::GpuGroup;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Reading read_type(const std::string& gpus) {
  return read_text(R"({"types": [{"name": "t", "vcpus": 1, "ram": "1GiB", "price": 1, "gpus": )" +
                       gpus + R"(}], "sets": [{"name": "s", "driver": "local"}],
                       "pools": [{"name": "p", "sets": ["s"], "types": ["t"]}]})",
                   "/etc/hostler", {.surroundings = {.is_root = true}, .state_dir = {}});
}

TEST(GpusOfTypesTest, ANumberSaysNoKind) {
  const Reading reading = read_type("8");
  ASSERT_THAT(reading.problems, SizeIs(0)) << reading.problems[0].message;
  EXPECT_EQ(reading.config.site.types[0].resources.gpus, 8);
  EXPECT_THAT(reading.config.site.types[0].gpu_groups, IsEmpty());
}

TEST(GpusOfTypesTest, ATypeMayHaveSeveralKinds) {
  const Reading reading = read_type(R"([{"count": 4, "kind": "t4"},
                                        {"count": 2, "kind": "l40s", "memory": "48GiB"}])");
  ASSERT_THAT(reading.problems, SizeIs(0)) << reading.problems[0].message;
  const auto& type = reading.config.site.types[0];
  EXPECT_EQ(type.resources.gpus, 6);
  EXPECT_THAT(type.gpu_groups,
              ElementsAre(GpuGroup{.kind = "l40s", .memory = std::int64_t{48} << 30, .count = 2},
                          GpuGroup{.kind = "t4", .memory = 0, .count = 4}));
}

TEST(GpusOfTypesTest, SaysWhereTheMistakeIs) {
  const auto refused = [](const std::string& gpus, const char* text) {
    const Reading reading = read_type(gpus);
    ASSERT_THAT(reading.problems, SizeIs(1)) << gpus;
    EXPECT_THAT(reading.problems[0].message, HasSubstr(text));
  };
  refused("0.5", "types[0].gpus: found 0.5, allowed: a whole number from 0 to 1048576");
  refused("-1", "types[0].gpus: found -1");
  refused(R"("8 a100")", "types[0].gpus: found \"8 a100\"");
  refused(R"({"kind": "a100"})", "types[0].gpus.count: missing");
  refused(R"([{"count": 1, "kind": "a100"}, {"count": 1, "kind": "a100"}])",
          "types[0].gpus[1]: found this kind and memory a second time");
  refused(R"([{"count": 1, "kinds": "a100"}])", "types[0].gpus[0].kinds: unknown key");
}

}  // namespace
}  // namespace hostler::config
