// What the draft extensions are asked and answer arrives whole, in this process and from another,
// and what breaks a rule in it is refused.
#include <utility>

#include "core/plugin_host/extension_values.h"
#include "tests/unit/plugin_host/chaos_set.h"

namespace hostler::plugin_host {
namespace {

using model::CloudErrorClass;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T, class Call>
model::CloudResult<T> answer_of(const Call& call) {
  Awaited<T> awaited;
  call(awaited.done());
  return awaited.get();
}

using Offerings = std::vector<model::CloudOffering>;
model::CloudResult<Offerings> offerings(ChaosSet& set) {
  return answer_of<Offerings>([&](auto done) {
    set->offerings({.provider_types = {"p.large"}, .market = model::Market::kSpot}, kPatience,
                   std::move(done));
  });
}

TEST(OfferingsTest, ArriveWithAllTheirFields) {
  ChaosSet set("");

  const auto found = offerings(set);

  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 1U);
  const auto& one = found->front();
  EXPECT_EQ(one.provider_type, "p.large") << "the request's";
  EXPECT_EQ(one.market, model::Market::kSpot) << "the request's";
  EXPECT_EQ(one.region, "r1");
  EXPECT_EQ(one.zone, "z1");
  EXPECT_EQ(one.architecture, "x86_64");
  EXPECT_EQ(one.resources,
            (model::Resources{.vcpus = 4, .gpus = 1, .ram = 8LL << 30U, .scratch = 20LL << 30U}));
  EXPECT_EQ(one.gpu_groups, (model::GpuGroups{{"a100-sxm4-40gb", 40LL << 30U, 1}}));
  EXPECT_EQ(one.price_per_hour, std::optional(model::Micros{40'000}));
  EXPECT_EQ(one.available, model::Availability::kYes);
}

TEST(OfferingsTest, WithNumbersThatNoTypeHasAreRefused) {
  for (const char* word : {"negative_offering", "huge_offering", "dear_offering"}) {
    ChaosSet set(word);

    const auto found = offerings(set);

    ASSERT_FALSE(found) << word;
    EXPECT_EQ(found.error().cls, CloudErrorClass::kMisbehaving);
    EXPECT_THAT(found.error().message, HasSubstr("offerings: R6: "));
  }
}

TEST(OfferingsTest, WithGroupsOfGpusThatNoTypeHasAreRefused) {
  const std::map<std::string, std::string> kLies{
      {"other_gpus", "R64: groups of 9 gpus together, which are 1"},
      {"bad_gpu_kind", "R64: a kind of gpus that is not 1 to 63 characters of a-z 0-9 . _ -"},
      {"many_gpu_groups", "R64: 1000 groups of gpus, allowed: at most 8"},
      {"huge_gpu", "R64: a gpu of more than 2^50 bytes"},
      {"no_gpu_groups", "R19: a number of groups of gpus but no groups"}};
  for (const auto& [word, rule] : kLies) {
    ChaosSet set(word);

    const auto found = offerings(set);

    ASSERT_FALSE(found) << word;
    EXPECT_EQ(found.error().cls, CloudErrorClass::kMisbehaving);
    EXPECT_THAT(found.error().message, HasSubstr("offerings: " + rule));
  }
}

TEST(OfferingsTest, OfADriverThatWasBuiltBeforeTheyHadGroupsOfGpusAreRead) {
  hostler_offering older{};
  older.struct_size = 112, older.kind = HOSTLER_REC_OFFERING;
  older.provider_type = HOSTLER_STR("p.large");
  older.gpus = 4;
  older.gpu_groups = nullptr, older.n_gpu_groups = 77;  // Bytes that are not the driver's.
  model::CloudOffering read;
  TextsLeft left;

  EXPECT_EQ(read_offering(*reinterpret_cast<const hostler_rec*>(&older), read, left), "");
  EXPECT_EQ(read.resources.gpus, 4);
  EXPECT_TRUE(read.gpu_groups.empty());
}

TEST(OfferingsTest, AnAvailabilityThatNobodyKnowsIsUnknown) {
  ChaosSet set("unknown_offering");

  const auto found = offerings(set);

  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->front().available, model::Availability::kUnknown);
}

/// The notices until the watch has ended at its timeout.
struct Watch {
  std::vector<model::Interruption> notices;
  model::CloudResult<DriverSet::Nothing> end;
};
Watch watch(ChaosSet& set) {
  Watch out;
  out.end = answer_of<DriverSet::Nothing>([&](auto done) {
    set->watch_interruptions(
        3s, [&](const model::Interruption& notice) { out.notices.push_back(notice); },
        std::move(done));
  });
  return out;
}

TEST(InterruptionTest, NoticesComeUntilTheTimeoutWithTheirActionAndTheirWithdrawal) {
  ChaosSet set("");

  const auto seen = watch(set);

  EXPECT_TRUE(seen.end) << seen.end.error().message;
  ASSERT_EQ(seen.notices.size(), 2U);
  const auto& first = seen.notices.front();
  EXPECT_EQ(first.instance_id, "i-1");
  EXPECT_EQ(first.text, "spot reclaim") << "one line";
  EXPECT_EQ(first.at, Wall{121'000'000});
  EXPECT_EQ(first.action, model::InterruptionAction::kStop);
  EXPECT_EQ(seen.notices.back().action, model::InterruptionAction::kWithdrawn);
}

TEST(InterruptionTest, AnActionThatNobodyKnowsIsNotSaid) {
  ChaosSet set("unknown_notice");

  const auto seen = watch(set);

  ASSERT_FALSE(seen.notices.empty());
  EXPECT_EQ(seen.notices.front().action, model::InterruptionAction::kNotSaid);
}

TEST(InterruptionTest, ANoticeOfNoInstanceBreaksARule) {
  ChaosSet set("notice_of_nothing");

  const auto seen = watch(set);

  ASSERT_FALSE(seen.end);
  EXPECT_THAT(seen.end.error().message, HasSubstr("watch: R28: "));
}

TEST(InterruptionTest, AWatchThatReturnsOkWouldHoldOneOfTheSetsCallsForEver) {
  ChaosSet set("watch_returns");

  const auto seen = watch(set);

  ASSERT_FALSE(seen.end);
  EXPECT_EQ(seen.end.error().cls, CloudErrorClass::kMisbehaving);
  EXPECT_THAT(seen.end.error().message, HasSubstr("watch: R26: returned OK, it must be PENDING"));
}

// Bug: such a watch was made again and again, and nobody was told that no notice would come.
TEST(InterruptionTest, AWatchThatCompletesWithOkBeforeItsTimeBreaksARule) {
  ChaosSet set("watch_ends");

  const auto seen = watch(set);

  ASSERT_FALSE(seen.end);
  EXPECT_THAT(seen.end.error().message,
              HasSubstr("watch: R26: completed with OK before its deadline, without a cancel"));
}

model::CloudResult<model::ConsoleText> console(ChaosSet& set) {
  return answer_of<model::ConsoleText>([&](auto done) {
    set->read_console({.id = "i-1", .offset = 100}, kPatience, std::move(done));
  });
}

TEST(ConsoleTest, ItsPiecesAreJoinedWhateverBytesTheyHave) {
  ChaosSet set("");

  const auto text = console(set);

  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(text->bytes, std::string("boot\0\377\n", 7));
  EXPECT_EQ(text->offset, 100U);
  EXPECT_EQ(text->as_of, Wall{5'000'000});
}

TEST(ConsoleTest, SaysWhereAPieceIsMissing) {
  ChaosSet set("console_gap"), whole("");

  const auto text = console(set);

  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(text->gap, 104U);
  EXPECT_FALSE(console(whole)->gap);
}

TEST(ConsoleTest, APieceThatGoesBackBreaksARule) {
  ChaosSet set("console_backwards");

  const auto text = console(set);

  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("console read: R6: "));
}

using Leftovers = std::vector<model::Leftover>;
model::CloudResult<Leftovers> leftovers(ChaosSet& set) {
  return answer_of<Leftovers>([&](auto done) {
    set->list_leftovers({{"hostler-set", "s1"}}, kPatience, std::move(done));
  });
}

TEST(LeftoversTest, ArriveWithTheirTags) {
  ChaosSet set("");

  const auto found = leftovers(set);

  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().type, "disk");
  EXPECT_EQ(found->front().id, "d-1");
  EXPECT_EQ(found->front().instance_id, "i-1");
  EXPECT_EQ(found->front().tags, (model::Tags{{"hostler-set", "s1"}}));
  EXPECT_EQ(found->front().created, Wall{5'000'000});
}

TEST(LeftoversTest, OneWithoutAnIdBreaksARule) {
  ChaosSet set("leftover_without_id");

  const auto found = leftovers(set);

  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("leftovers list: R28: "));
}

TEST(LeftoversTest, ADestroyNamesItsSet) {
  ChaosSet set("");
  const auto destroy = [&](const char* expected) {
    return answer_of<DriverSet::Nothing>([&](auto done) {
      set->destroy_leftover({.type = "disk", .id = "d-1", .expected_set_id = expected}, kPatience,
                            std::move(done));
    });
  };

  EXPECT_TRUE(destroy("s1"));
  const auto foreign = destroy("s2");
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().cls, CloudErrorClass::kConflict);
}

using Images = std::vector<model::Image>;
model::CloudResult<Images> images(ChaosSet& set) {
  return answer_of<Images>([&](auto done) {
    set->find_images(
        {.name = "debian-*", .owner = "", .architecture = "aarch64", .filters = {{"tag:of", "us"}}},
        kPatience, std::move(done));
  });
}

TEST(ImagesTest, ArriveWithAllTheirFields) {
  ChaosSet set("");

  const auto found = images(set);

  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().id, "img-1");
  EXPECT_EQ(found->front().name, "debian-*") << "the request's";
  EXPECT_EQ(found->front().owner, "us") << "the request's filter";
  EXPECT_EQ(found->front().architecture, "aarch64") << "the request's";
  EXPECT_EQ(found->front().created, Wall{5'000'000});
}

TEST(ImagesTest, OneWithoutAnIdBreaksARule) {
  ChaosSet set("image_without_id");

  const auto found = images(set);

  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("images find: R28: "));
}

model::CloudResult<DriverSet::Nothing> stop(ChaosSet& set) {
  return answer_of<DriverSet::Nothing>([&](auto done) {
    set->stop({"i-7", "s1"}, kPatience, std::move(done));
  });
}

TEST(PowerTest, ReachesTheDriver) {
  ChaosSet set("", {}, "fake_serial_set");

  const auto stopped = stop(set);

  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().cls, CloudErrorClass::kNotFound);
  EXPECT_THAT(stopped.error().message, HasSubstr("stop: stop of i-7"));
}

TEST(PowerTest, OfADriverWithoutItIsUnsupported) {
  ChaosSet set("");

  const auto stopped = stop(set);

  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().cls, CloudErrorClass::kUnsupported);
}

}  // namespace
}  // namespace hostler::plugin_host
