#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/crypto/ssh_keys.h"

/// The host keys that cloud-init prints on the console of a machine at its first boot: whole public
/// keys, and fingerprints. Pure. Whoever has root on the machine can print the same: the caller
/// asks only while nobody else can have had it.
namespace hostler::ssh {

struct PrintedKey {
  std::string kind;         ///< As `ssh-keygen -l` names it: "ED25519".
  std::string fingerprint;  ///< "SHA256:..."
};
/// A complete block: the keys between its first and its last line.
using PrintedBlock = std::vector<PrintedKey>;

/// The complete blocks of a console, in order, 16 at most. A line counts only if it is as
/// cloud-init prints it, after no other words than those by which kernel and syslog begin a line:
/// a console may also have text of strangers, such as the user names of failed logins. A block that
/// was cut, or that has another one begun in it, is none.
[[nodiscard]] std::vector<PrintedBlock> find_printed_keys(std::string_view console);

enum class Printed {
  kNothing,  ///< No block has a key of this kind, perhaps not yet.
  kThisKey,
  kAnother,  ///< The first block that has keys of this kind does not have this one.
};
/// The first block with a key of its kind decides: what is printed later may come from somebody
/// who has got into the machine.
[[nodiscard]] Printed judge_printed(const std::vector<PrintedBlock>& blocks,
                                    const crypto::SshPublicKey& shown);

}  // namespace hostler::ssh
