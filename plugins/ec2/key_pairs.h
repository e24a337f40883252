#pragma once

#include <mutex>
#include <set>
#include <string>

#include "api.h"

namespace hostler::ec2 {

/// Key pairs of EC2 for public keys. Their name is made of the key, so that all sets of an account
/// share them; nobody deletes them. From any thread, several at once.
class KeyPairs {
 public:
  explicit KeyPairs(const Api& api) : api_(api) {}

  /// The name of the key pair, which is there when it returns. \param line "ssh-ed25519 AAAA..."
  std::string name_of(const std::string& line, hostler_op* op);
  /// Somebody has deleted it: the next name_of() makes it again.
  void forget(const std::string& name);

 private:
  const Api& api_;
  std::mutex mutex_;
  std::set<std::string> known_;  ///< Names, under mutex_.
};

}  // namespace hostler::ec2
