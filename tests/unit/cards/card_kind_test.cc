#include "core/cards/card_kind.h"

#include <gtest/gtest.h>
#include <hostler/driver.hpp>

#include <string>
#include <utility>
#include <vector>

namespace hostler::cards {
namespace {

TEST(CardKindTest, IsTheNameOfTheProductWithoutItsMaker) {
  const std::vector<std::pair<std::string, std::string>> kKinds{
      {"NVIDIA A100-SXM4-40GB", "a100-sxm4-40gb"},
      {"NVIDIA A100 80GB PCIe", "a100-80gb-pcie"},
      {"Tesla T4", "t4"},
      {"Tesla V100-SXM2-16GB", "v100-sxm2-16gb"},
      {"NVIDIA GeForce RTX 3090", "rtx-3090"},
      {"NVIDIA RTX 6000 Ada Generation", "rtx-6000-ada-generation"},
      {"Quadro P1000", "quadro-p1000"},
      {"AMD Instinct MI210", "mi210"},
      {"AMD INSTINCT MI250 (MCM) OAM AC MBA", "mi250-mcm-oam-ac-mba"},
      {"Arcturus GL-XL [AMD Instinct MI100]", "mi100"},
      {"Navi 21 [Radeon RX 6800/6800 XT / 6900 XT]", "radeon-rx-6800-6800-xt-6900-xt"},
      {"Radeon RX 7900 XTX", "radeon-rx-7900-xtx"},
      {"a100_slice.2", "a100_slice.2"},
  };
  for (const auto& [product, kind] : kKinds) EXPECT_EQ(card_kind(product), kind);
}

// A driver cannot include core/, so the SDK has the rule for what clouds say once more.
TEST(CardKindTest, IsTheSameForHostsAndForDrivers) {
  for (const char* product :
       {"NVIDIA A100-SXM4-40GB", "NVIDIA A100 80GB PCIe", "Tesla T4", "NVIDIA GeForce RTX 3090",
        "Quadro P1000", "AMD Instinct MI210", "Radeon RX 7900 XTX", "A10G", "K520", "H100",
        "Radeon Pro V520", "NVIDIA", ""})
    EXPECT_EQ(driver::gpu_kind(product), card_kind(product)) << product;
}

TEST(CardKindTest, IsEmptyWhereNothingIsSaid) {
  for (const char* product : {"", "[N/A]", "N/A", "[Unknown Error]", "NVIDIA", "  --  ", "\x01"})
    EXPECT_EQ(card_kind(product), "") << product;
}

TEST(CardKindTest, FitsTheNameOfAKind) {
  EXPECT_EQ(card_kind(std::string(62, 'a') + " b"), std::string(62, 'a')) << "no hyphen at its end";
  EXPECT_EQ(card_kind(std::string(1000, 'x')), std::string(63, 'x'));
  EXPECT_EQ(card_kind("GPU \xc3\xa9t\xc3\xa9"), "gpu-t");
}

}  // namespace
}  // namespace hostler::cards
