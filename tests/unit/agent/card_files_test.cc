#include "core/agent/host/server/card_files.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/agent/host/server/card_errors.h"
#include "core/agent/host/server/card_tool.h"
#include "tests/temp_folder.h"

namespace hostler::agent {
namespace {

using File = Cards::File;

/// A kernel with cards, in a folder of its own.
struct FakeKernel {
  FakeKernel() {
    for (const char* name : {"dev/dri", "nvidia", "drm"})
      std::filesystem::create_directories(folder / name);
  }
  void device(const std::string& name) const { (void)folder.put("dev/" + name, ""); }
  void nvidia(const std::string& bus, const std::string& text) const {
    std::filesystem::create_directories(folder / "nvidia" / bus);
    (void)folder.put("nvidia/" + bus + "/information", text);
  }
  void drm(const std::string& name, const std::string& bus) const {
    const auto device = folder / "pci" / bus;
    std::filesystem::create_directories(device);
    std::filesystem::create_directories(folder / "drm" / name);
    std::filesystem::create_symlink(device, folder / "drm" / name / "device");
  }
  [[nodiscard]] std::vector<File> files() const { return find_card_files(roots()); }
  [[nodiscard]] CardRoots roots() const {
    return {folder / "dev", folder / "nvidia", folder / "drm", "/nowhere"};
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder / "dev" / name; }

  test::TempFolder folder;
};

TEST(CardFilesTest, AreThoseOfSingleCardsWithTheirAddresses) {
  const FakeKernel kernel;
  for (const char* name : {"nvidia0", "nvidia3", "nvidiactl", "nvidia-uvm", "nvidia-modeset", "kfd",
                           "nvidia", "dri/card0", "dri/renderD128", "dri/by-path"})
    kernel.device(name);
  kernel.nvidia("0000:3b:00.0",
                "Model: \t\t NVIDIA A100\nIRQ:   \t\t 11\nGPU UUID: \t GPU-4b\nBus Type: \t PCIe\n"
                "Device Minor: \t 3\nGPU Excluded:\t No\n");
  kernel.drm("card0", "0000:03:00.0");
  EXPECT_EQ(kernel.files(), (std::vector<File>{{kernel.path("dri/card0"), "0000:03:00.0"},
                                               {kernel.path("dri/renderD128"), ""},
                                               {kernel.path("nvidia0"), ""},
                                               {kernel.path("nvidia3"), "0000:3b:00.0"}}));
}

TEST(CardFilesTest, WhatTheDriverDoesNotSayIsNotKnown) {
  const FakeKernel kernel;
  kernel.device("nvidia0");
  for (const char* text :
       {"", "Device Minor:", "Device Minor: \t x", "Device Minor: 99999999999"}) {
    kernel.nvidia("0000:3b:00.0", text);
    EXPECT_EQ(kernel.files().at(0).bus, "") << text;
  }
}

TEST(CardFilesTest, AreNoneWhereThereIsNothing) {
  EXPECT_TRUE(find_card_files({"/nowhere", "/nowhere", "/nowhere", "/nowhere"}).empty());
}

TEST(CardFilesTest, AreNoMoreThanAMessageCarries) {
  const FakeKernel kernel;
  for (std::size_t i = 0; i < kCardFilesMax + 10; ++i) kernel.device("nvidia" + std::to_string(i));
  EXPECT_EQ(kernel.files().size(), kCardFilesMax);
}

/// A read gives the first record only, as the test has a file in place of the kernel's log.
std::string errors_of(const std::string& record) {
  const test::TempFolder folder;
  return read_card_errors(folder.put("kmsg", record));
}

TEST(CardErrorsTest, AreTheXidsOfTheKernel) {
  EXPECT_EQ(errors_of("4,1251,5140900,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=1122, GPU has fallen "
                      "off the bus.\n SUBSYSTEM=pci\n"),
            "NVRM: Xid (PCI:0000:3b:00): 79\n");
  EXPECT_EQ(errors_of("4,1,2,-;NVRM: Xid (PCI:0000:3b:00): 31"),
            "NVRM: Xid (PCI:0000:3b:00): 31\n");
}

TEST(CardErrorsTest, AreNotWhatAProgramHasWrittenToTheLog) {
  for (const char* record :
       {"12,1,2,-;NVRM: Xid (PCI:0000:3b:00): 79", "4,1,2,-;I say NVRM: Xid (PCI:0000:3b:00): 79",
        "NVRM: Xid (PCI:0000:3b:00): 79", "x,1;NVRM: Xid (PCI:0000:3b:00): 79",
        "4,1,2,-;NVRM: GPU at PCI:0000:3b:00", ""})
    EXPECT_EQ(errors_of(record), "") << record;
  EXPECT_EQ(read_card_errors("/nowhere"), "");
}

TEST(CardToolTest, IsTheCommandElseTheFirstToolThatIsThere) {
  const test::TempFolder one, two;
  const std::string folders = one.path().string() + ":" + two.path().string();
  EXPECT_EQ(find_card_tool("", folders).tool, Cards::Tool::kNone);
  const auto rocm = one.put("rocm-smi", "", 0755);
  EXPECT_EQ(find_card_tool("", folders).tool, Cards::Tool::kRocm);
  EXPECT_EQ(find_card_tool("", folders).command.at(0), rocm);
  const auto nvidia = two.put("nvidia-smi", "", 0755);
  EXPECT_EQ(find_card_tool("", folders).tool, Cards::Tool::kNvidia);
  EXPECT_EQ(find_card_tool("", folders).command.at(0), nvidia);
  EXPECT_EQ(find_card_tool("list", folders).command,
            (std::vector<std::string>{"/bin/sh", "-c", "list"}));
}

TEST(CardToolTest, IsAProgramThatCanBeExecuted) {
  const test::TempFolder folder;
  std::filesystem::create_directories(folder / "nvidia-smi");
  (void)folder.put("rocm-smi", "", 0600);
  EXPECT_EQ(find_card_tool("", folder.path().string() + "::relative:").tool, Cards::Tool::kNone);
}

}  // namespace
}  // namespace hostler::agent
