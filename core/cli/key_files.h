#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"

/// Files of a user's SSH keys.
namespace hostler::cli {

/// The file of the public key that ssh would use by itself: the first one there is of ~/.ssh/
/// id_ed25519.pub and so on. Fails if there is none.
Result<std::string> default_key_file();

/// The lines of files of public keys, without those that are empty or comments. Fails on a file
/// that has a private key.
Result<std::vector<std::string>> read_key_files(const std::vector<std::string>& files);

/// The files for `ssh -i` so that it uses these public keys: the private keys beside them, or the
/// public key itself where an agent has the private one.
std::vector<std::string> identities_of(const std::vector<std::string>& files);

}  // namespace hostler::cli
