#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "api.h"
#include "instance.h"

namespace hostler::ec2 {

/// Key pairs of EC2 for public keys, one for each key of the set; this driver deletes none. From
/// any thread, several at once.
class KeyPairs {
 public:
  /// The name of a key pair. A create keeps it for as long as it needs the key pair.
  using Name = std::shared_ptr<const std::string>;

  KeyPairs(const Api& api, const std::string& set_id)
      : api_(api), begin_("hostler-" + set_id + "-") {}

  /// The key pair is there when it returns. \param line "ssh-ed25519 AAAA..."
  Name use(const std::string& line, const Tags& tags, hostler_op* op);
  /// Somebody has deleted it: the next use() makes it again.
  void forget(const std::string& name);
  /// It is one of this set, whose creates use another one now. False while none has used any.
  [[nodiscard]] bool is_left(const std::string& name);

 private:
  Name keep(const std::string& name);  ///< Under mutex_.

  const Api& api_;
  const std::string begin_;
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<const std::string>> known_;  ///< By name, under mutex_.
  std::string last_;  ///< That a create has used, likewise.
};

/// The name is one of a time when key pairs had no tags, and all sets of an account shared them.
bool is_shared_key_pair(const std::string& name);

}  // namespace hostler::ec2
