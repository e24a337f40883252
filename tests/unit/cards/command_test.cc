#include "tests/unit/cards/readings.h"

namespace hostler::cards::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

agent::Cards command(const std::string& cards, std::int32_t status = 0) {
  return said(Tool::kCommand, "{\"cards\": [" + cards + "]}", status);
}

TEST(CommandTest, ListsTheCards) {
  const auto report = read_cards(command(
      R"({"index": 3, "uuid": "GPU-b", "kind": "NVIDIA A100", "memory": "40GiB", "driver": "535.1",
          "health": "ok", "files": ["/dev/nvidia3", "/dev/dri/card1"]},
         {"uuid": "GPU-a", "memory": 1073741824})"));
  EXPECT_EQ(report.source, "command");
  ASSERT_EQ(report.cards.size(), 2U);
  EXPECT_EQ(report.cards[0].uuid, "GPU-a");
  EXPECT_EQ(report.cards[0].index, 1) << "its place in the list";
  EXPECT_EQ(report.cards[0].memory, 1073741824);
  EXPECT_EQ(report.cards[0].problem, "");
  const model::Card& other = report.cards[1];
  EXPECT_EQ(other.index, 3);
  EXPECT_EQ(other.kind, "a100");
  EXPECT_EQ(other.memory, std::int64_t{40} << 30U);
  EXPECT_THAT(other.files, ElementsAre("/dev/nvidia3", "/dev/dri/card1"));
}

TEST(CommandTest, EveryOtherHealthIsAProblem) {
  const auto cards = cards_of(command(R"({"uuid": "a", "health": "Xid 79\nfell off"},
                                         {"uuid": "b", "health": ""})"));
  EXPECT_EQ(cards[0].problem, "Xid 79 fell off");
  EXPECT_EQ(cards[1].problem, "its health is empty, not \"ok\"");
}

TEST(CommandTest, AHostMayHaveNoCards) { EXPECT_THAT(cards_of(command("")), IsEmpty()); }

TEST(CommandTest, WhatIsNotAsDescribedIsRefusedWithItsPlace) {
  const std::vector<std::pair<std::string, std::string>> kBad{
      {R"({"uuid": "a", "serial": 7})", "cards[0].serial"},
      {R"({"kind": "a100"})", "cards[0].uuid"},
      {R"({"uuid": "a"}, {"uuid": 7})", "cards[1].uuid"},
      {R"({"uuid": "a", "index": -1})", "cards[0].index"},
      {R"({"uuid": "a", "index": 0.5})", "cards[0].index"},
      {R"({"uuid": "a", "memory": "40"})", "cards[0].memory"},
      {R"({"uuid": "a", "memory": -1})", "cards[0].memory"},
      {R"({"uuid": "a", "health": false})", "cards[0].health"},
      {R"({"uuid": "a", "files": "/dev/nvidia0"})", "cards[0].files"},
      {R"("a")", "cards[0]"},
  };
  for (const auto& [cards, place] : kBad)
    EXPECT_THAT(problem_of(command(cards)), HasSubstr("command: " + place)) << cards;
  EXPECT_THAT(problem_of(said(Tool::kCommand, R"({"cards": [], "version": 2})")),
              HasSubstr("version"));
  EXPECT_THAT(problem_of(said(Tool::kCommand, "")), HasSubstr("command: "));
  EXPECT_EQ(problem_of(said(Tool::kCommand, "sh: 1: list-cards: not found\n", 127)),
            "command: it ended with status 127: sh: 1: list-cards: not found");
}

}  // namespace
}  // namespace hostler::cards::test
