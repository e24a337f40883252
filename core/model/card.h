#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/gpus.h"

/// Graphics cards of a host, as it reports them.
namespace hostler::model {

/// True if a card may have this UUID: printable ASCII without spaces and commas, at most 64 bytes.
/// Variables of jobs list UUIDs, with commas between them.
bool is_card_uuid(std::string_view text);

/// One card. What its host says is believed only within these bounds: its kind is a kind's name or
/// empty (not said), its UUID is_card_uuid().
struct Card {
  std::string uuid;  ///< Names it for jobs and for ever; unique on its host.
  std::int32_t index = 0;
  std::string kind;
  std::int64_t memory = 0;  ///< Bytes; 0: not said.
  std::string driver;       ///< Version of its driver; may be empty.
  /// Why it gets no work: "Xid 79", "2 uncorrected ECC errors"; empty: it is healthy.
  std::string problem;
  std::vector<std::string> files;  ///< Its device files: absolute paths.
  friend bool operator==(const Card&, const Card&) = default;
};

/// What keeps the jobs of a host from cards that they were not given.
enum class CardGuard : std::uint8_t {
  kNone,     ///< Nothing: the agent is not root, or no device file is known.
  kOwners,   ///< The owners of the device files.
  kCgroup1,  ///< The controller `devices` of cgroup v1.
  kBpf,      ///< A device program at the cgroup of each job.
};
/// "none", "owners", "cgroup_v1", "bpf".
const char* to_string(CardGuard guard);

enum class CardState : std::uint8_t {
  kFree,     ///< Work may get it.
  kUsed,     ///< Work has it, and it is healthy.
  kBad,      ///< It has a problem or has vanished, whoever has it.
  kUnknown,  ///< Nobody has it, and the last reading failed; or only its number is known.
};
/// "free", "used", "bad", "unknown".
const char* to_string(CardState state);

/// One reading of all cards of a host.
struct CardReport {
  /// Who has told: "nvidia-smi", "rocm-smi", "command", or "agent" where it has not told in time;
  /// empty: the host has nothing that tells, so its cards are not known.
  std::string source;
  /// Why the reading failed: then `cards` is empty, and nothing is known. Empty: it did not fail.
  std::string problem;
  std::vector<Card> cards;  ///< By UUID.
  CardGuard guard = CardGuard::kNone;
  friend bool operator==(const CardReport&, const CardReport&) = default;
};

}  // namespace hostler::model
