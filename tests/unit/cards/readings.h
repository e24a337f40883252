#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/cards/read_cards.h"

namespace hostler::cards::test {

using Tool = agent::Cards::Tool;

inline agent::Cards said(Tool tool, std::string text, std::int32_t status = 0) {
  agent::Cards out;
  out.tool = tool;
  out.status = status;
  out.text = std::move(text);
  return out;
}

/// Why the reading failed; "no problem" with its cards if it did not.
inline std::string problem_of(const agent::Cards& reading) {
  const auto report = read_cards(reading);
  if (report.problem.empty()) return "no problem, cards: " + std::to_string(report.cards.size());
  EXPECT_TRUE(report.cards.empty()) << "nothing is known of a reading that failed";
  return report.problem;
}

/// The cards of a reading that must not fail.
inline std::vector<model::Card> cards_of(const agent::Cards& reading) {
  const auto report = read_cards(reading);
  EXPECT_EQ(report.problem, "");
  return report.cards;
}

}  // namespace hostler::cards::test
