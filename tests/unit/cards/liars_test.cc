#include "tests/unit/cards/readings.h"

/// What no tool means, and what a hostile host may say.
namespace hostler::cards::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string card(const std::string& members) { return "{\"cards\": [{" + members + "}]}"; }

TEST(LiarsTest, AHostWithoutAToolHasNoReport) {
  auto reading = said(Tool::kNone, "{\"cards\": [{\"uuid\": \"a\"}]}", 7);
  reading.guard = model::CardGuard::kOwners;
  const auto report = read_cards(reading);
  EXPECT_EQ(report.source, "");
  EXPECT_EQ(report.problem, "");
  EXPECT_TRUE(report.cards.empty());
  EXPECT_EQ(report.guard, model::CardGuard::kOwners);
}

TEST(LiarsTest, WhatIsCutOrWasKilledIsNotRead) {
  for (const Tool tool : {Tool::kNvidia, Tool::kRocm, Tool::kCommand}) {
    auto reading = said(tool, card("\"uuid\": \"a\""));
    reading.timed_out = true;
    reading.status = 137;
    EXPECT_THAT(problem_of(reading), HasSubstr("did not end in time and was killed"));
    reading.cut = true;
    EXPECT_THAT(problem_of(reading), HasSubstr("it printed more than 64"));
  }
}

TEST(LiarsTest, BytesThatAreNoTextAreNotRead) {
  for (const Tool tool : {Tool::kNvidia, Tool::kRocm, Tool::kCommand}) {
    EXPECT_THAT(problem_of(said(tool, "0, GPU-\xff\n")), HasSubstr("not UTF-8"));
    EXPECT_THAT(problem_of(said(tool, std::string("\0\0\0\0", 4))), HasSubstr("not UTF-8"));
  }
}

TEST(LiarsTest, TheAnswerOfAnotherToolIsNotRead) {
  const std::string csv = "0, GPU-0, 00000000:3B:00.0, Tesla T4, 15360, 535.1, 0, No\n";
  const std::string json = card("\"uuid\": \"a\"");
  EXPECT_THAT(problem_of(said(Tool::kNvidia, json)), HasSubstr("a line that is not understood"));
  EXPECT_THAT(problem_of(said(Tool::kRocm, csv)), HasSubstr("no JSON object"));
  EXPECT_THAT(problem_of(said(Tool::kRocm, json)), HasSubstr("cards"));
  EXPECT_THAT(problem_of(said(Tool::kCommand, csv)), StartsWith("command: "));
}

TEST(LiarsTest, AnotherVersionsColumnsAreNotGuessedAt) {
  for (const char* line :
       {"0, GPU-0, 00000000:3B:00.0, Tesla T4, 15360, 535.1, 0",
        "0, GPU-0, 00000000:3B:00.0, Tesla T4, 15360, 535.1, 0, No, new",
        "0, GPU-0, 00000000:3B:00.0, Tesla T4, 15360 MiB, 535.1, 0, No",
        "index, uuid, pci.bus_id, name, memory.total [MiB], driver_version, x, y",
        "0, GPU-0, 00000000:3B:00.0, Tesla T4, 15360, 535.1, 0, Pending",
        "-1, GPU-0, 00000000:3B:00.0, Tesla T4, 15360, 535.1, 0, No",
        "99999999999999999999, GPU-0, 00000000:3B:00.0, Tesla T4, 15360, 535.1, 0, No"})
    EXPECT_THAT(problem_of(said(Tool::kNvidia, line)), HasSubstr("not understood")) << line;
  EXPECT_EQ(problem_of(said(Tool::kNvidia, "")), "nvidia-smi: it printed nothing");
}

TEST(LiarsTest, AThousandCardsAreRefused) {
  std::string json, csv;
  for (int i = 0; i < 1000; ++i) {
    json += (i == 0 ? "" : ", ") + ("{\"uuid\": \"c" + std::to_string(i)) + "\"}";
    csv +=
        std::to_string(i) + ", GPU-" + std::to_string(i) + ", 00000000:3B:00.0, T4, 1, 1, 0, No\n";
  }
  EXPECT_EQ(problem_of(said(Tool::kCommand, "{\"cards\": [" + json + "]}")),
            "command: it lists more than 256 cards");
  EXPECT_EQ(problem_of(said(Tool::kNvidia, csv)), "nvidia-smi: it lists more than 256 cards");
}

// Bug: each colon was looked at again with all that follows, which held up all hosts for seconds.
TEST(LiarsTest, ALongLineOfALostCardIsLookedAtNearItsBeginning) {
  const std::string line = "Unable to determine the device handle for " + std::string(40, ':') +
                           "0000:5F:00.0: Unknown Error";
  EXPECT_THAT(problem_of(said(Tool::kNvidia, line)), HasSubstr("not understood"));
}

TEST(LiarsTest, OneFileOfTwoCardsIsRefused) {
  EXPECT_EQ(problem_of(said(Tool::kCommand, R"({"cards": [{"uuid": "a", "files": ["/dev/x"]},
                {"uuid": "b", "files": ["/dev/x"]}]})")),
            "command: two cards have the file /dev/x; allowed: files of one card alone");
}

TEST(LiarsTest, TwoCardsWithOneUuidAreRefused) {
  const std::string row = ", GPU-7, 00000000:3B:00.0, Tesla T4, 15360, 535.1, 0, No\n";
  EXPECT_EQ(problem_of(said(Tool::kNvidia, "0" + row + "1" + row)),
            "nvidia-smi: two cards have the UUID GPU-7");
  EXPECT_EQ(problem_of(said(Tool::kCommand, R"({"cards": [{"uuid": "a"}, {"uuid": "a"}]})")),
            "command: two cards have the UUID a");
}

TEST(LiarsTest, AUuidThatVariablesCannotCarryIsRefused) {
  for (const char* uuid : {"a,b", "a b", "\\u00e9", "\\u001b[31m"})
    EXPECT_THAT(problem_of(said(Tool::kCommand, card("\"uuid\": \"" + std::string(uuid) + "\""))),
                HasSubstr("command: "))
        << uuid;
  EXPECT_THAT(problem_of(said(Tool::kNvidia, "0, , 00000000:3B:00.0, Tesla T4, 1, 1, 0, No\n")),
              HasSubstr("a card has the UUID \"\""));
}

TEST(LiarsTest, AFileThatIsNoPathIsRefused) {
  for (const char* path : {"nvidia0", "", "/", "/dev/../etc/shadow", "/dev/..", "/dev/a b"})
    EXPECT_THAT(problem_of(said(Tool::kCommand, card("\"uuid\": \"a\", \"files\": [\"" +
                                                     std::string(path) + "\"]"))),
                HasSubstr("card a has the file"))
        << path;
}

TEST(LiarsTest, MoreFilesThanAMessageCarriesAreRefused) {
  std::string cards;
  for (int i = 0; i < 20; ++i) {
    std::string files;
    for (int k = 0; k < 60; ++k)
      files += (k == 0 ? "" : ", ") + ("\"/dev/x" + std::to_string(60 * i + k)) + "\"";
    cards += (i == 0 ? "" : ", ") + ("{\"uuid\": \"c" + std::to_string(i)) + "\", \"files\": [" +
             files + "]}";
  }
  EXPECT_EQ(problem_of(said(Tool::kCommand, "{\"cards\": [" + cards + "]}")),
            "command: its cards have 1200 device files; at most 1024 are understood");
}

TEST(LiarsTest, AProblemIsOneLineWithoutSignsThatChangeATerminal) {
  const auto problem = problem_of(said(Tool::kCommand, "\x1b[2Jgone\nmore", 1));
  EXPECT_EQ(problem.find('\x1b'), std::string::npos);
  EXPECT_EQ(problem.find("more"), std::string::npos);
}

}  // namespace
}  // namespace hostler::cards::test
