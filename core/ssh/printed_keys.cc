#include "core/ssh/printed_keys.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>

#include "core/base/text.h"

namespace hostler::ssh {
namespace {

using Words = std::span<const std::string_view>;

constexpr std::size_t kBlocksMax = 16, kKeysMax = 32, kLineMax = 2048;
/// "<14>Nov 24 12:00:00 host cloud-init:"
constexpr std::size_t kPrefixMax = 5;
constexpr std::string_view kDashes = "-----";
constexpr std::array<std::string_view, 2> kBlocks{"SSH HOST KEY KEYS", "SSH HOST KEY FINGERPRINTS"};

/// By the type of the key in the SSH protocol. `bytes`: of its blob.
struct Kind {
  std::string_view type, name;
  std::size_t bytes;
};
constexpr std::array<Kind, 4> kKinds{{{"ssh-ed25519", "ED25519", 51},
                                      {"ecdsa-sha2-nistp256", "ECDSA", 104},
                                      {"ecdsa-sha2-nistp384", "ECDSA", 136},
                                      {"ecdsa-sha2-nistp521", "ECDSA", 172}}};

/// Of a key with a possible blob; null: of no other one.
const Kind* kind_of(const crypto::SshPublicKey& key) {
  const auto found = std::ranges::find(kKinds, std::string_view(key.type), &Kind::type);
  return found != kKinds.end() && found->bytes == key.blob.size() ? found : nullptr;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> out;
  constexpr std::string_view kBlanks = " \t\r";
  while (out.size() < 32) {
    const auto begin = line.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    out.push_back(line.substr(0, line.find_first_of(kBlanks)));
    line.remove_prefix(out.back().size());
  }
  return out;
}

/// "[12.345]", "[", "12.345]": the time of the kernel, in one or two words.
bool is_of_kernel(std::string_view word) {
  return std::ranges::all_of(word, [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '[' || c == '.' || c == ']';
  });
}

/// "cloud-init:", "cloud-init[812]:", "ec2:", "ci-info:".
bool is_of_cloud_init(std::string_view word) {
  if (!word.ends_with(':')) return false;
  word.remove_suffix(1);
  if (word.ends_with(']')) {
    const auto open = word.find('[');
    if (open == std::string_view::npos || !is_of_kernel(word.substr(open))) return false;
    word = word.substr(0, open);
  }
  return word == "cloud-init" || word == "ec2" || word == "ci-info";
}

/// What is left without the words of kernel and syslog. They end with the name of cloud-init; a
/// name of any other program means that the rest is not cloud-init's.
Words without_prefix(Words words) {
  if (!words.empty() && words[0].starts_with('[') && is_of_kernel(words[0])) {
    const bool is_all = words[0].ends_with(']');
    words = words.subspan(1);
    if (!is_all && !words.empty() && is_of_kernel(words[0])) words = words.subspan(1);
  }
  for (std::size_t n = 0; n < std::min(words.size(), kPrefixMax); ++n) {
    if (is_of_cloud_init(words[n])) return words.subspan(n + 1);
    if (words[n].ends_with(':')) break;
  }
  return words;
}

std::string joined(Words words) {
  std::string out;
  for (const auto word : words) out.append(out.empty() ? "" : " ").append(word);
  return out;
}

/// The name of the block that the line begins ("BEGIN") or ends ("END"); empty: none.
std::string_view marked(const std::string& line, const std::string& what) {
  for (const auto name : kBlocks)
    if (line == std::string(kDashes) + what + " " + std::string(name) + std::string(kDashes))
      return name;
  return {};
}

/// "ssh-ed25519 AAAA... [comment]"
std::optional<PrintedKey> whole_key(Words words) {
  if (words.size() < 2 || words.size() > 3) return std::nullopt;
  const auto key = crypto::parse_public_key(joined(words));
  const Kind* const kind = key ? kind_of(*key) : nullptr;
  if (kind == nullptr) return std::nullopt;
  return PrintedKey{std::string(kind->name), key->fingerprint()};
}

/// "256 SHA256:... comment (ED25519)"; the comment may be "no comment".
std::optional<PrintedKey> fingerprint(Words words) {
  constexpr std::size_t kLength = 7 + 43;
  if (words.size() < 4 || words.size() > 5 || !parse_u64(words[0])) return std::nullopt;
  const std::string_view kind = words.back();
  if (!words[1].starts_with("SHA256:") || words[1].size() != kLength || kind.size() < 3 ||
      !kind.starts_with('(') || !kind.ends_with(')'))
    return std::nullopt;
  return PrintedKey{std::string(kind.substr(1, kind.size() - 2)), std::string(words[1])};
}

}  // namespace

std::vector<PrintedBlock> find_printed_keys(std::string_view console) {
  std::vector<PrintedBlock> out;
  std::string_view open;
  PrintedBlock block;
  while (!console.empty() && out.size() < kBlocksMax) {
    const auto end = console.find('\n');
    if (end == std::string_view::npos) break;  // not a whole line
    const std::string_view line = console.substr(0, end);
    console.remove_prefix(end + 1);
    if (line.size() > kLineMax) continue;
    const auto all = words_of(line);
    const Words words = without_prefix(all);
    const std::string text = joined(words);
    if (const auto begun = marked(text, "BEGIN"); !begun.empty()) {
      open = begun;
      block.clear();
    } else if (const auto ended = marked(text, "END"); !ended.empty()) {
      if (ended == open && !block.empty()) out.push_back(std::move(block));
      open = {};
      block.clear();
    } else if (!open.empty() && block.size() < kKeysMax) {
      if (auto key = open == kBlocks[0] ? whole_key(words) : fingerprint(words))
        block.push_back(*std::move(key));
    }
  }
  return out;
}

Printed judge_printed(const std::vector<PrintedBlock>& blocks, const crypto::SshPublicKey& shown) {
  const Kind* const kind = kind_of(shown);
  if (kind == nullptr) return Printed::kNothing;
  const std::string its = shown.fingerprint();
  for (const PrintedBlock& block : blocks) {
    if (std::ranges::find(block, kind->name, &PrintedKey::kind) == block.end()) continue;
    const bool has_it = std::ranges::any_of(block, [&](const PrintedKey& one) {
      return one.kind == kind->name && one.fingerprint == its;
    });
    return has_it ? Printed::kThisKey : Printed::kAnother;
  }
  return Printed::kNothing;
}

}  // namespace hostler::ssh
