#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/base/text.h"
#include "core/cards/card_kind.h"
#include "core/cards/readers.h"

namespace hostler::cards {
namespace {

/// As in the query of the agent (core/agent/host/server/card_tool.cc).
enum Column : std::uint8_t { kIndex, kUuid, kBus, kName, kMemory, kDriver, kEcc, kPages, kColumns };
using Row = std::array<std::string_view, kColumns>;

constexpr std::size_t kShownMax = 120;
constexpr std::string_view kLost = "Unable to determine the device handle for ";
/// Of the kernel's log: "NVRM: Xid (PCI:0000:3b:00): 79".
constexpr std::string_view kXid = "NVRM: Xid (PCI:";
/// Those that the program on the card has caused, as NVIDIA's plugin for Kubernetes has them.
constexpr std::array<std::uint64_t, 6> kXidsOfPrograms{13, 31, 43, 45, 68, 109};
constexpr std::string_view kNoDevices = "No devices were found";
/// The card works; only what it has stored of itself is lost. The exit status is 14 then.
constexpr std::string_view kInforom = "WARNING: infoROM is corrupted at gpu ";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

tl::unexpected<Error> odd_line(std::string_view line) {
  return fail(Errc::kInvalidArgument,
              "it printed a line that is not understood: " + printable(line, kShownMax));
}

/// "[N/A]", "[Not Supported]", "[Not Found]", "[Insufficient Permissions]": this card, or this
/// user, has no such value.
bool is_not_said(std::string_view value) {
  constexpr std::array<std::string_view, 6> kWords{
      "", "N/A", "[N/A]", "[Not Supported]", "[Not Found]", "[Insufficient Permissions]"};
  return std::ranges::find(kWords, value) != kWords.end();
}

/// "GPU is lost" of the value "[GPU is lost]"; empty if the card has answered.
std::string failure_of(std::string_view value) {
  if (is_not_said(value) || !value.starts_with('[') || !value.ends_with(']')) return "";
  return printable(value.substr(1, value.size() - 2), kShownMax);
}

std::optional<Row> row_of(std::string_view line) {
  const auto parts = split(line, ',');
  if (parts.size() != kColumns) return std::nullopt;
  Row out;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = trimmed(parts[i]);
  return out;
}

/// Why the card gets no work; empty: it is healthy.
std::string problem_of(const Row& row, std::optional<std::uint64_t> ecc) {
  for (const std::string_view value : row)
    if (std::string failure = failure_of(value); !failure.empty()) return failure;
  if (ecc && *ecc > 0)
    return std::to_string(*ecc) +
           (*ecc == 1 ? " uncorrected ECC error" : " uncorrected ECC errors");
  if (row[kPages] == "Yes") return "memory pages are to be retired: reset the card";
  return "";
}

/// Where the kernel does not tell addresses, as in a container: card N has /dev/nvidiaN, if these
/// are exactly as many as the cards. Else nobody knows which is whose.
void guess_files(const agent::Cards& reading, std::vector<model::Card>& cards) {
  const auto is_guess = [](const agent::Cards::File& file) {
    return file.bus.empty() && file.path.find("/nvidia") != std::string::npos;
  };
  const auto known = [](const model::Card& card) { return !card.files.empty(); };
  if (std::ranges::any_of(cards, known) ||
      std::cmp_not_equal(std::ranges::count_if(reading.files, is_guess), cards.size()))
    return;
  std::vector<std::string> found;
  for (const model::Card& card : cards) {
    const std::string name = "/nvidia" + std::to_string(card.index);
    const auto file = std::ranges::find_if(
        reading.files, [&](const auto& one) { return is_guess(one) && one.path.ends_with(name); });
    if (file == reading.files.end()) return;
    found.push_back(file->path);
  }
  for (std::size_t i = 0; i < cards.size(); ++i) cards[i].files = {found[i]};
}

/// A card, and its address: by that the kernel's log names it.
struct Placed {
  model::Card card;
  std::string bus;
};

Result<Placed> read_row(const agent::Cards& reading, std::string_view line) {
  const auto row = row_of(line);
  if (!row) return odd_line(line);
  const auto index = parse_u64((*row)[kIndex]);
  const std::string bus = bus_address((*row)[kBus]);
  const auto number = [&](Column column) { return parse_u64((*row)[column]); };
  const auto is_known = [&](Column column) {
    return is_not_said((*row)[column]) || !failure_of((*row)[column]).empty();
  };
  if (!index || *index > INT16_MAX || (!number(kMemory) && !is_known(kMemory)) ||
      (!number(kEcc) && !is_known(kEcc)) ||
      (!is_known(kPages) && (*row)[kPages] != "Yes" && (*row)[kPages] != "No"))
    return odd_line(line);
  model::Card out;
  out.index = static_cast<std::int32_t>(*index);
  out.uuid = (*row)[kUuid].starts_with('[') ? bus : std::string((*row)[kUuid]);
  out.kind = card_kind((*row)[kName]);
  if (const auto mib = number(kMemory); mib && *mib <= INT32_MAX)
    out.memory = static_cast<std::int64_t>(*mib) << 20U;
  if (!is_known(kDriver)) out.driver = (*row)[kDriver];
  out.problem = problem_of(*row, number(kEcc));
  out.files = files_at(reading, bus);
  return Placed{std::move(out), bus};
}

/// "... for GPU3: 0000:5F:00.0: Unknown Error", or "... for GPU 0000:02:00.0: GPU is lost. Reboot
/// the system to recover this GPU". The tool has no UUID of such a card: its address names it.
Result<model::Card> read_lost(const agent::Cards& reading, std::string_view line) {
  constexpr std::size_t kAddressMin = std::string_view("0000:00:00.0").size();
  constexpr std::size_t kBeforeMax = 32;  // "GPU3: ": a host may print any line.
  for (std::size_t at = kLost.size();
       at + kAddressMin <= line.size() && at <= kLost.size() + kBeforeMax; ++at) {
    const std::size_t dot = line.substr(0, at + 2 * kAddressMin).find('.', at);
    if (dot == std::string_view::npos || dot + 1 >= line.size()) continue;
    const std::string bus = bus_address(line.substr(at, dot + 2 - at));
    if (bus.empty()) continue;
    std::string_view why = trimmed(line.substr(dot + 2));
    if (why.starts_with(':')) why = trimmed(why.substr(1));
    model::Card out;
    out.uuid = bus;
    out.problem = why.empty() ? "it does not answer" : printable(why, kShownMax);
    out.files = files_at(reading, bus);
    return out;
  }
  return odd_line(line);
}

/// By address: the last error that is not of a program.
using Xids = std::map<std::string, std::uint64_t>;

Result<void> read_xid(Xids& xids, std::string_view line) {
  const std::size_t end = line.find("): ");
  if (end == std::string_view::npos || end < kXid.size()) return odd_line(line);
  const std::string bus =
      bus_address(std::string(line.substr(kXid.size(), end - kXid.size())) + ".0");
  const auto number = parse_u64(line.substr(end + 3));
  if (bus.empty() || !number) return odd_line(line);
  if (std::ranges::find(kXidsOfPrograms, *number) == kXidsOfPrograms.end()) xids[bus] = *number;
  return {};
}

/// What the lines so far have said.
struct Said {
  std::vector<Placed> cards;
  Xids xids;
  std::size_t rows = 0;
  bool is_explained = false;  ///< An exit status other than 0 is no surprise.
  bool has_none = false;
};

Result<void> read_line(const agent::Cards& reading, std::string_view line, Said& said) {
  if (line.empty()) return {};
  if (line.starts_with(kXid)) return read_xid(said.xids, line);
  if (line.starts_with(kInforom)) {
    said.is_explained = true;
  } else if (line == kNoDevices) {
    said.is_explained = said.has_none = true;
  } else if (line.starts_with(kLost)) {
    said.cards.push_back({HOSTLER_TRY(read_lost(reading, line)), ""});
    said.is_explained = true;
  } else {
    auto card = read_row(reading, line);
    // What the tool says of its failure is no row, either.
    if (!card) HOSTLER_TRY(check_status(reading));
    if (!card) return tl::unexpected(std::move(card).error());
    said.cards.push_back(std::move(*card));
    ++said.rows;
    if (said.cards.size() > model::kCardsMax) return too_many_cards();
  }
  return {};
}

std::vector<model::Card> with_xids(std::vector<Placed> cards, const Xids& xids) {
  std::vector<model::Card> out;
  for (Placed& one : cards) {
    const auto found = xids.find(one.bus);
    if (found != xids.end() && one.card.problem.empty())
      one.card.problem = "Xid " + std::to_string(found->second);
    out.push_back(std::move(one.card));
  }
  return out;
}

}  // namespace

Result<std::vector<model::Card>> read_nvidia(const agent::Cards& reading) {
  Said said;
  for (const std::string_view line : split(reading.text, '\n'))
    HOSTLER_TRY(read_line(reading, trimmed(line), said));
  if (!said.is_explained) HOSTLER_TRY(check_status(reading));
  if (said.rows > 0 || said.has_none) {
    auto cards = with_xids(std::move(said.cards), said.xids);
    guess_files(reading, cards);
    return cards;
  }
  if (said.cards.empty()) return fail(Errc::kInvalidArgument, "it printed nothing");
  const model::Card& lost = said.cards[0].card;
  return fail(Errc::kInvalidArgument,
              "it lists only a card that does not answer: " + lost.uuid + ", " + lost.problem);
}

}  // namespace hostler::cards
