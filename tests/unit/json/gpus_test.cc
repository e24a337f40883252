#include "core/json/gpus.h"

#include <gmock/gmock.h>

#include <string>

namespace hostler::json {
namespace {

using model::GpuGroup;
using model::GpuGroups;
using model::GpuWish;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;
/// No reader gives these: they show that a target was left alone.
const GpuWish kNoWish{.kind = "untouched", .memory = 7};
const GpuGroups kNoGroups{{.kind = "untouched", .memory = 7, .count = 7}};

/// The value `gpus` of an object, as work or a type has it.
template <class Said>
struct Read {
  Said said;
  std::int32_t count = 7;
  std::string problems;
};

template <class Said>
Read<Said> read(const std::string& gpus, Said before) {
  const auto document = Document::parse(R"({"gpus":)" + gpus + "}");
  if (!document) return {before, 7, document.error().message};
  Read<Said> out{std::move(before), 7, {}};
  Problems problems;
  Field(document->root(), problems).object([&](Object& o) {
    read_gpus(o.may("gpus"), out.count, out.said);
  });
  for (const Error& error : problems.list()) out.problems += error.message + "\n";
  return out;
}

Read<GpuWish> read_wish(const std::string& gpus) { return read(gpus, kNoWish); }
Read<GpuGroups> read_groups(const std::string& gpus) { return read(gpus, kNoGroups); }

/// The object with the member that is written of the value.
template <class Said>
std::string written(std::int32_t count, const Said& said) {
  std::string out;
  Writer w(out);
  w.begin_object();
  write_gpus(w, count, said);
  w.end_object();
  return out;
}

TEST(GpusTest, ReadsANumberAsAnyGpus) {
  const auto two = read_wish("2");
  EXPECT_EQ(two.problems, "");
  EXPECT_EQ(two.count, 2);
  EXPECT_EQ(two.said, GpuWish{});
  EXPECT_EQ(read_wish("0").count, 0);
}

TEST(GpusTest, ReadsKindAndMemory) {
  const auto both = read_wish(R"({"count": 2, "kind": "a100", "memory": "40GiB"})");
  EXPECT_EQ(both.problems, "");
  EXPECT_EQ(both.count, 2);
  EXPECT_EQ(both.said, (GpuWish{.kind = "a100", .memory = 40 * kGiB}));
  EXPECT_EQ(read_wish(R"({"count": 1, "kind": "mi300x.2_a-b"})").said,
            (GpuWish{.kind = "mi300x.2_a-b", .memory = 0}));
  EXPECT_EQ(read_wish(R"({"count": 3})").said, GpuWish{});
}

TEST(GpusTest, SaysWhatANumberOfGpusIs) {
  for (const char* bad : {"0.5", "-1", "1e9", "1048577", "1.0", "99999999999999999999"}) {
    const auto out = read_wish(bad);
    EXPECT_THAT(out.problems, AllOf(HasSubstr(std::string("gpus: found ") + bad),
                                    HasSubstr("allowed: a whole number from 0 to 1048576")));
    EXPECT_EQ(out.count, 7) << bad;
    EXPECT_EQ(out.said, kNoWish) << bad;
  }
  for (const char* bad : {R"("2")", "true", "null", "[]", R"([{"count": 1}])"})
    EXPECT_THAT(read_wish(bad).problems, HasSubstr("or an object such as {\"count\": 2")) << bad;
}

TEST(GpusTest, RefusesObjectsThatMeanNothing) {
  const auto refused = [](const char* gpus, const char* text) {
    const auto out = read_wish(gpus);
    EXPECT_THAT(out.problems, HasSubstr(text)) << gpus;
    EXPECT_EQ(out.said, kNoWish) << gpus;
    EXPECT_THAT(read_groups(gpus).problems, HasSubstr(text)) << gpus;
  };
  refused(R"({"memory": "40GiB"})", "gpus.count: missing, but required");
  refused(R"({"kind": "a100"})", "gpus.count: missing, but required");
  refused("{}", "gpus.count: missing, but required");
  refused(R"({"count": 0, "kind": "a100"})", "allowed: a whole number from 1 to 1048576");
  refused(R"({"count": 0.5})", "gpus.count: found 0.5");
  refused(R"({"count": 2, "kind": ""})", "allowed: the kind of a gpu, such as \"a100\"");
  refused(R"({"count": 2, "kind": "A100"})", "1 to 63 characters of a-z 0-9 . _ -");
  refused(R"({"count": 2, "kind": "a,b"})", "gpus.kind: found");
  refused(R"({"count": 2, "kind": 100})", "gpus.kind: found 100");
  refused(R"({"count": 2, "memory": 40})", "gpus.memory: found 40, allowed: a size from");
  refused(R"({"count": 2, "memory": "0B"})", "gpus.memory: found \"0B\"");
  refused(R"({"count": 2, "memory": "2000000GiB"})", "gpus.memory: found");
}

TEST(GpusTest, RefusesMembersThatItDoesNotKnow) {
  EXPECT_THAT(read_wish(R"({"count": 2, "model": "a100"})").problems,
              HasSubstr("gpus.model: unknown key; known here: count, kind, memory"));
}

TEST(GpusTest, TakesKindsOfUpTo63Bytes) {
  const auto of_bytes = [](std::size_t bytes) {
    return R"({"count": 1, "kind": ")" + std::string(bytes, 'k') + "\"}";
  };
  EXPECT_EQ(read_wish(of_bytes(63)).said.kind.size(), 63U);
  EXPECT_THAT(read_wish(of_bytes(64)).problems, HasSubstr("1 to 63 characters"));
}

TEST(GpusTest, ReadsSeveralKindsInTheirOrder) {
  const auto out = read_groups(R"([{"count": 1, "kind": "t4"}, {"count": 4, "kind": "a100",
      "memory": "80GiB"}, {"count": 2, "kind": "a100", "memory": "40GiB"}, {"count": 1}])");
  EXPECT_EQ(out.problems, "");
  EXPECT_EQ(out.count, 8);
  EXPECT_THAT(out.said, ElementsAre(GpuGroup{.kind = "", .memory = 0, .count = 1},
                                    GpuGroup{.kind = "a100", .memory = 40 * kGiB, .count = 2},
                                    GpuGroup{.kind = "a100", .memory = 80 * kGiB, .count = 4},
                                    GpuGroup{.kind = "t4", .memory = 0, .count = 1}));
}

TEST(GpusTest, HasNoGroupWhereOnlyANumberIsSaid) {
  for (const char* said : {"8", R"({"count": 8})", R"([{"count": 8}])"}) {
    const auto out = read_groups(said);
    EXPECT_EQ(out.problems, "");
    EXPECT_EQ(out.count, 8) << said;
    EXPECT_THAT(out.said, IsEmpty()) << said;
  }
  EXPECT_EQ(read_groups("[]").count, 0);
}

TEST(GpusTest, RefusesListsWithDoublesOrTooMuch) {
  const auto refused = [](const std::string& gpus, const char* text) {
    const auto out = read_groups(gpus);
    EXPECT_THAT(out.problems, HasSubstr(text)) << gpus;
    EXPECT_EQ(out.count, 7) << gpus;
    EXPECT_EQ(out.said, kNoGroups) << gpus;
  };
  refused(R"([{"count": 1, "kind": "t4"}, {"count": 2, "kind": "t4"}])",
          "gpus[1]: found this kind and memory a second time");
  refused(R"([{"count": 1}, {"count": 2}])", "a second time");
  refused("[2]", "gpus[0]: found 2, allowed: an object");
  refused(R"([{"count": 1048576, "kind": "t4"}, {"count": 1, "kind": "a2"}])",
          "found 1048577 gpus together, allowed: at most 1048576");
  std::string nine = R"([{"count": 1})";
  for (int i = 0; i < 8; ++i) nine += R"(, {"count": 1, "kind": "k)" + std::to_string(i) + "\"}";
  refused(nine + "]", "allowed: at most 8");
  refused(R"("a100")", "or a list of such objects");
}

TEST(GpusTest, WritesANumberWhereNothingElseIsSaid) {
  EXPECT_EQ(written(0, GpuWish{}), "{}");
  EXPECT_EQ(written(2, GpuWish{}), R"({"gpus":2})");
  EXPECT_EQ(written(0, GpuGroups{}), "{}");
  EXPECT_EQ(written(2, GpuGroups{}), R"({"gpus":2})");
}

TEST(GpusTest, WritesWhatItReads) {
  for (const std::string same : {R"({"gpus":3})", R"({"gpus":{"count":2,"kind":"a100"}})",
                                 R"({"gpus":{"count":2,"memory":"40GiB"}})",
                                 R"({"gpus":{"count":2,"kind":"a100","memory":"40GiB"}})"}) {
    const std::string value = same.substr(8, same.size() - 9);
    const auto wish = read_wish(value);
    EXPECT_EQ(written(wish.count, wish.said), same);
    const auto groups = read_groups(value);
    EXPECT_EQ(written(groups.count, groups.said), same);
  }
  const std::string two = R"([{"count":2,"kind":"a100","memory":"40GiB"},{"count":1,"kind":"t4"}])";
  const auto groups = read_groups(two);
  EXPECT_EQ(written(groups.count, groups.said), R"({"gpus":)" + two + "}");
}

}  // namespace
}  // namespace hostler::json
