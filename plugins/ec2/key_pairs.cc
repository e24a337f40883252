#include "key_pairs.h"

#include "digest.h"

namespace hostler::ec2 {
namespace {

/// Algorithm and key, without the comment. Throws INVALID if it is no such line.
std::string without_comment(std::string line) {
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  const std::size_t end_of_algorithm = line.find(' ');
  const std::size_t end_of_key = line.find(' ', end_of_algorithm + 1);
  std::string out = line.substr(0, end_of_key);
  const std::string algorithm = out.substr(0, end_of_algorithm);
  const bool good = end_of_algorithm != std::string::npos &&
                    out.find_first_of("\n\t\"") == std::string::npos &&
                    (algorithm == "ssh-ed25519" || algorithm == "ssh-rsa");
  if (!good)
    throw driver::Error(HOSTLER_E_INVALID,
                        "EC2 takes keys \"ssh-ed25519 AAAA...\" and \"ssh-rsa AAAA...\" only, in "
                        "one line and without options");
  return out;
}

}  // namespace

std::string KeyPairs::name_of(const std::string& line, hostler_op* op) {
  const std::string key = without_comment(line);
  std::string name = "hostler-" + digest_of(key);
  {
    const std::lock_guard lock(mutex_);
    if (known_.count(name) != 0) return name;
  }
  Query query("ImportKeyPair");
  query.add("KeyName", name).add("PublicKeyMaterial", in_base64(key));
  try {
    api_.change(query, op);
  } catch (const Refused& refused) {
    if (refused.code() != "InvalidKeyPair.Duplicate")
      throw refusal_error(refused, "import the key pair " + name);
  }
  const std::lock_guard lock(mutex_);
  known_.insert(name);
  return name;
}

void KeyPairs::forget(const std::string& name) {
  const std::lock_guard lock(mutex_);
  known_.erase(name);
}

}  // namespace hostler::ec2
