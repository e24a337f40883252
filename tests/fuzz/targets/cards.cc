#include <algorithm>
#include <string>

#include "core/base/text.h"
#include "core/cards/read_cards.h"
#include "tests/fuzz/target.h"

/// What a host says of its cards, whatever tool it claims to have asked.
///
/// The input's first bytes are the tool, its exit status, and whether its text is cut or late.
namespace hostler::fuzz {
namespace {

agent::Cards reading_of(Bytes& in) {
  agent::Cards out;
  out.tool = agent::Cards::Tool{static_cast<std::uint8_t>(in.byte() % 4U)};
  out.status = in.byte();
  const std::uint8_t flags = in.byte();
  out.timed_out = (flags & 1U) != 0;
  out.cut = (flags & 2U) != 0;
  out.text = in.rest();
  out.files = {{"/dev/nvidia0", ""}, {"/dev/nvidia1", "0000:3b:00.0"}, {"/dev/dri/card0", "x"}};
  return out;
}

bool is_kind(const std::string& text) {
  return text.size() <= model::kGpuKindBytesMax && std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
                  c == '-';
         });
}

void check_line(const std::string& text) {
  promise(text.size() <= 4096, "what is said of a host is bounded", text);
  promise(is_utf8(text) && text == printable(text, 4096), "it is one printable line", text);
}

void check_card(const model::Card& card) {
  promise(model::is_card_uuid(card.uuid), "a UUID can be in a variable", card.uuid);
  promise(is_kind(card.kind), "a kind is a kind's name", card.kind);
  promise(card.index >= 0 && card.memory >= 0, "numbers can be");
  check_line(card.driver);
  check_line(card.problem);
  for (const std::string& file : card.files)
    promise(file.starts_with('/') && is_utf8(file), "a file is a path", file);
}

void check(const model::CardReport& report, const agent::Cards& reading) {
  promise(report.source.empty() == (reading.tool == agent::Cards::Tool::kNone),
          "who has told is said");
  check_line(report.problem);
  promise(report.problem.empty() || report.cards.empty(), "of a failed reading nothing is known");
  promise(report.problem.empty() || report.problem.starts_with(report.source + ": "),
          "a problem names the tool", report.problem);
  promise(!report.problem.empty() || report.source.empty() || (!reading.cut && !reading.timed_out),
          "what is cut or late is not read");
  promise(report.cards.size() <= model::kCardsMax, "cards are bounded");
  promise(std::ranges::adjacent_find(
              report.cards, [](const auto& a, const auto& b) { return a.uuid >= b.uuid; }) ==
              report.cards.end(),
          "cards are sorted, and no two are the same");
  for (const model::Card& card : report.cards) check_card(card);
}

}  // namespace
}  // namespace hostler::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hostler;
  fuzz::Bytes in(data, size);
  const agent::Cards reading = fuzz::reading_of(in);
  const auto report = cards::read_cards(reading);
  fuzz::check(report, reading);
  fuzz::promise(report == cards::read_cards(reading), "the same text is the same report");
  return 0;
}
