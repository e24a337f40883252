#include "tests/unit/cards/readings.h"

/// The texts are what tools of several versions print.
namespace hostler::cards::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

agent::Cards rocm(const std::string& text, std::int32_t status = 0) {
  return said(Tool::kRocm, text, status);
}
std::string mi250(const std::string& members) {
  return R"({"card0": {"Unique ID": "0x9246ABCDEF12", "PCI Bus": "0000:C1:00.0", )" + members +
         "}}";
}

TEST(RocmTest, ListsTheCards) {
  auto reading = rocm(R"json({
    "card1": {"Unique ID": "0x54f88318ca05093d", "VRAM Total Memory (B)": "68702699520",
              "VRAM Total Used Memory (B)": "10960896", "PCI Bus": "0000:C6:00.0",
              "Card Series": "AMD INSTINCT MI250 (MCM) OAM AC MBA", "Card Model": "0x740c",
              "Card Vendor": "Advanced Micro Devices, Inc. [AMD/ATI]", "Card SKU": "D65210V",
              "Node ID": "5", "GUID": "45873", "GFX Version": "gfx9010"},
    "card0": {"Unique ID": "0x2150e7d042a1124", "VRAM Total Memory (B)": "68702699520",
              "PCI Bus": "0000:C1:00.0", "Card Series": "AMD INSTINCT MI250 (MCM) OAM AC MBA"},
    "system": {"Driver version": "6.7.0"}})json");
  reading.files = {{"/dev/dri/card1", "0000:c1:00.0"}, {"/dev/dri/renderD128", "0000:c1:00.0"}};
  const auto report = read_cards(reading);
  EXPECT_EQ(report.source, "rocm-smi");
  EXPECT_EQ(report.problem, "");
  ASSERT_EQ(report.cards.size(), 2U);
  const model::Card& card = report.cards[0];
  EXPECT_EQ(card.uuid, "GPU-02150e7d042a1124") << "as ROCR_VISIBLE_DEVICES takes it";
  EXPECT_EQ(card.index, 0);
  EXPECT_EQ(card.kind, "mi250-mcm-oam-ac-mba");
  EXPECT_EQ(card.memory, 68702699520);
  EXPECT_EQ(card.driver, "6.7.0");
  EXPECT_THAT(card.files, ElementsAre("/dev/dri/card1", "/dev/dri/renderD128"));
}

TEST(RocmTest, OlderVersionsWriteKeysInAnotherCase) {
  const auto cards = cards_of(rocm(mi250(R"("Card series": "Instinct MI210", "Card model": "x")")));
  EXPECT_EQ(cards.at(0).kind, "mi210");
  EXPECT_EQ(cards.at(0).uuid, "GPU-00009246abcdef12");
  EXPECT_EQ(cards.at(0).memory, 0);
}

TEST(RocmTest, WarningsBeforeTheObjectAreSkipped) {
  const auto cards =
      cards_of(rocm("WARNING: AMD GPU device(s) is/are in a low-power state. Check power control/"
                    "runtime_status\n\n" +
                    mi250(R"("Card Series": "x")") + "\n"));
  EXPECT_EQ(cards.size(), 1U);
}

TEST(RocmTest, ACardWithoutAUniqueIdGetsNoWork) {
  for (const char* id : {"N/A", "0x0", "", "0x12345678901234567", "0xnothex"}) {
    const auto cards = cards_of(rocm(R"({"card1": {"PCI Bus": "0000:0B:00.0", "Unique ID": ")" +
                                     std::string(id) + R"(", "Card Series": "Raphael"}})"));
    EXPECT_EQ(cards.at(0).uuid, "0000:0b:00.0") << id;
    EXPECT_EQ(cards.at(0).problem, "it has no unique id");
  }
}

TEST(RocmTest, AnotherVersionOrAnotherToolIsNotGuessedAt) {
  EXPECT_THAT(problem_of(rocm(R"({"card0": {"Unique ID": "0x1"}})")), HasSubstr("no \"PCI Bus\""));
  EXPECT_THAT(problem_of(rocm(R"({"card0": {"PCI Bus": "0000:C1:00.0"}})")),
              HasSubstr("no \"Unique ID\" for card0"));
  EXPECT_THAT(problem_of(rocm(R"({"cardX": {}})")), HasSubstr("no number for cardX"));
  EXPECT_THAT(problem_of(rocm(R"({"card0": "sleeps"})")), HasSubstr("for card0"));
  EXPECT_EQ(problem_of(rocm("{}")), "rocm-smi: it lists no card");
  EXPECT_THAT(problem_of(rocm("device,Unique ID\ncard0,0x1\n")), HasSubstr("no JSON object"));
  EXPECT_THAT(problem_of(rocm(mi250(R"("Card Series": )"))), HasSubstr("rocm-smi: "));
  EXPECT_EQ(problem_of(rocm("ERROR: No DRM devices available. Exiting\n", 1)),
            "rocm-smi: it ended with status 1: ERROR: No DRM devices available. Exiting");
}

}  // namespace
}  // namespace hostler::cards::test
