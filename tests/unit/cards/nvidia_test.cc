#include "tests/unit/cards/readings.h"

/// The lines are what tools of several versions print.
namespace hostler::cards::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kTwoA100 =
    "0, GPU-4b2c1a9f-8d3e-6f7a-b5c9-2e4d8a1f6c3b, 00000000:3B:00.0, NVIDIA A100-SXM4-40GB, 40960, "
    "535.129.03, 0, [N/A]\n"
    "1, GPU-1d6f4c0e-22b1-9c0d-7a55-90b7e0a1c2d3, 00000000:AF:00.0, NVIDIA A100-SXM4-40GB, 40960, "
    "535.129.03, 0, [N/A]\n";

agent::Cards nvidia(const std::string& text, std::int32_t status = 0) {
  return said(Tool::kNvidia, text, status);
}
std::string row(const std::string& ecc, const std::string& pages) {
  return "0, GPU-0, 00000000:3B:00.0, Tesla V100-SXM2-16GB, 16384, 450.80.02, " + ecc + ", " +
         pages + "\n";
}

TEST(NvidiaTest, ListsTheCardsByUuid) {
  const auto report = read_cards(nvidia(kTwoA100));
  EXPECT_EQ(report.source, "nvidia-smi");
  ASSERT_EQ(report.cards.size(), 2U);
  const model::Card& first = report.cards[0];
  EXPECT_EQ(first.uuid, "GPU-1d6f4c0e-22b1-9c0d-7a55-90b7e0a1c2d3");
  EXPECT_EQ(first.index, 1);
  EXPECT_EQ(first.kind, "a100-sxm4-40gb");
  EXPECT_EQ(first.memory, std::int64_t{40} << 30U);
  EXPECT_EQ(first.driver, "535.129.03");
  EXPECT_EQ(first.problem, "");
}

TEST(NvidiaTest, WhatACardDoesNotHaveIsNotSaid) {
  const auto consumer = cards_of(nvidia(
      "0, GPU-0, 00000000:01:00.0, GeForce RTX 3080, 10018, 470.57.02, [Not Supported], [N/A]\n"));
  EXPECT_EQ(consumer.at(0).problem, "");
  const auto unified = cards_of(
      nvidia("0, GPU-0, 0000000F:01:00.0, NVIDIA GB10, [N/A], 580.95.05, [N/A], [N/A]\r\n"));
  EXPECT_EQ(unified.at(0).memory, 0);
}

TEST(NvidiaTest, UncorrectedErrorsAndPagesToRetireAreProblems) {
  EXPECT_EQ(cards_of(nvidia(row("1", "No"))).at(0).problem, "1 uncorrected ECC error");
  EXPECT_EQ(cards_of(nvidia(row("7", "[N/A]"))).at(0).problem, "7 uncorrected ECC errors");
  EXPECT_EQ(cards_of(nvidia(row("0", "Yes"))).at(0).problem,
            "memory pages are to be retired: reset the card");
  EXPECT_EQ(cards_of(nvidia(row("0", "No"))).at(0).problem, "");
}

TEST(NvidiaTest, ACardThatAnswersWithErrorsHasThemAsItsProblem) {
  const auto lost = cards_of(nvidia(
      "0, GPU-0, 00000000:3B:00.0, NVIDIA H100, [GPU is lost], 535.1, [GPU is lost], [N/A]\n"));
  EXPECT_EQ(lost.at(0).problem, "GPU is lost");
  EXPECT_EQ(lost.at(0).uuid, "GPU-0");
  EXPECT_EQ(cards_of(nvidia(row("[GPU requires reset]", "[N/A]"))).at(0).problem,
            "GPU requires reset");
  const auto nameless = cards_of(nvidia(
      "3, [Unknown Error], 00000000:3B:00.0, [Unknown Error], [Unknown Error], 535.1, [N/A], "
      "[N/A]\n"));
  EXPECT_EQ(nameless.at(0).uuid, "0000:3b:00.0");
  EXPECT_EQ(nameless.at(0).kind, "");
}

TEST(NvidiaTest, ALostCardInALineOfItsOwnIsACardWithAProblem) {
  for (const auto& [line, why] : std::vector<std::pair<std::string, std::string>>{
           {"Unable to determine the device handle for GPU3: 0000:04:00.0: Unknown Error",
            "Unknown Error"},
           {"Unable to determine the device handle for GPU0000:04:00.0: Unknown Error",
            "Unknown Error"},
           {"Unable to determine the device handle for GPU 0000:04:00.0: GPU is lost.  Reboot the "
            "system to recover this GPU",
            "GPU is lost.  Reboot the system to recover this GPU"}}) {
    for (const std::int32_t status : {0, 15, 255}) {
      auto reading = nvidia(line + "\n" + kTwoA100, status);
      reading.files = {{"/dev/nvidia7", "0000:04:00.0"}};
      const auto cards = cards_of(reading);
      ASSERT_EQ(cards.size(), 3U) << line;
      EXPECT_EQ(cards[0].uuid, "0000:04:00.0");
      EXPECT_EQ(cards[0].problem, why);
      EXPECT_THAT(cards[0].files, ElementsAre("/dev/nvidia7"));
      EXPECT_EQ(cards[1].problem, "");
    }
  }
}

TEST(NvidiaTest, ALostCardAloneDoesNotSayThatThereAreNoOthers) {
  EXPECT_EQ(problem_of(nvidia(
                "Unable to determine the device handle for GPU 0000:04:00.0: GPU is lost.", 15)),
            "nvidia-smi: it lists only a card that does not answer: 0000:04:00.0, GPU is lost.");
  EXPECT_THAT(problem_of(nvidia("Unable to determine the device handle for GPU2: Unknown Error\n" +
                                std::string(kTwoA100))),
              HasSubstr("not understood"));
}

TEST(NvidiaTest, AHostWithoutDevicesHasNoCards) {
  EXPECT_THAT(cards_of(nvidia("No devices were found\n", 6)), IsEmpty());
  EXPECT_THAT(cards_of(nvidia("No devices were found\n", 0)), IsEmpty());
}

TEST(NvidiaTest, AWarningOfACorruptInforomIsNoFailure) {
  const std::string text =
      std::string(kTwoA100) + "WARNING: infoROM is corrupted at gpu 00000000:3B:00.0\n";
  EXPECT_EQ(cards_of(nvidia(text, 14)).size(), 2U);
}

TEST(NvidiaTest, AnXidOfTheKernelsLogIsTheProblemOfItsCard) {
  const std::string xids =
      "NVRM: Xid (PCI:0000:3b:00): 31\nNVRM: Xid (PCI:0000:3b:00): 79\n"
      "NVRM: Xid (PCI:0000:af:00): 13\nNVRM: Xid (PCI:0000:d8:00): 48\n";
  const auto cards = cards_of(nvidia(kTwoA100 + xids));
  ASSERT_EQ(cards.size(), 2U) << "the third is not there";
  EXPECT_EQ(cards[0].problem, "") << "its program has done that";
  EXPECT_EQ(cards[1].problem, "Xid 79");
  EXPECT_EQ(cards_of(nvidia(row("1", "No") + xids)).at(0).problem, "1 uncorrected ECC error");
  EXPECT_THAT(problem_of(nvidia("gone\n" + xids, 9)), HasSubstr("status 9: gone"));
  EXPECT_THAT(problem_of(nvidia(xids)), HasSubstr("it printed nothing"));
  EXPECT_THAT(problem_of(nvidia(std::string(kTwoA100) + "NVRM: Xid (PCI:x): 79\n")),
              HasSubstr("not understood"));
}

TEST(NvidiaTest, AnotherFailureSaysWhatTheToolHasSaid) {
  EXPECT_EQ(problem_of(nvidia("NVIDIA-SMI has failed because it couldn't communicate with the "
                              "NVIDIA driver. Make sure that the latest NVIDIA driver is installed "
                              "and running.\n\n",
                              9)),
            "nvidia-smi: it ended with status 9: NVIDIA-SMI has failed because it couldn't "
            "communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is "
            "installed and running.");
  EXPECT_EQ(problem_of(nvidia("Failed to initialize NVML: Driver/library version mismatch\n", 18)),
            "nvidia-smi: it ended with status 18: Failed to initialize NVML: Driver/library "
            "version mismatch");
  EXPECT_THAT(problem_of(nvidia("Field \"uuid\" is not a valid field to query.\n", 2)),
              HasSubstr("status 2: Field \"uuid\""));
  EXPECT_THAT(problem_of(nvidia(kTwoA100, 3)), HasSubstr("status 3"));
}

TEST(NvidiaTest, FilesAreThoseOfTheAddressAndElseOfTheIndex) {
  auto reading = nvidia(row("0", "No"));
  reading.files = {{"/dev/dri/card1", "0000:3b:00.0"},
                   {"/dev/dri/renderD129", "0000:3B:00.0"},
                   {"/dev/nvidia0", "0000:af:00.0"},
                   {"/dev/nvidia5", "0000:3b:00.0"}};
  EXPECT_THAT(cards_of(reading).at(0).files,
              ElementsAre("/dev/dri/card1", "/dev/dri/renderD129", "/dev/nvidia5"));
  reading.files = {{"/dev/nvidia0", ""}};
  EXPECT_THAT(cards_of(reading).at(0).files, ElementsAre("/dev/nvidia0"));
  reading.files = {{"/dev/nvidia0", ""}, {"/dev/nvidia1", ""}};
  EXPECT_THAT(cards_of(reading).at(0).files, IsEmpty()) << "nobody knows which of them it is";
  reading.files = {{"/dev/nvidia0", "0000:af:00.0"}};
  EXPECT_THAT(cards_of(reading).at(0).files, IsEmpty()) << "it is another card's";
}

}  // namespace
}  // namespace hostler::cards::test
