#include "key_pairs.h"

#include <string_view>

#include "create.h"
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

bool is_digest(std::string_view text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// `text` without `begin`; empty: it begins otherwise.
std::string_view after(std::string_view begin, std::string_view text) {
  return text.substr(0, begin.size()) == begin ? text.substr(begin.size()) : std::string_view();
}

}  // namespace

KeyPairs::Name KeyPairs::use(const std::string& line, const Tags& tags, hostler_op* op) {
  const std::string key = without_comment(line);
  const std::string name = begin_ + digest_of(key);
  {
    const std::lock_guard lock(mutex_);
    last_ = name;
    if (known_.count(name) != 0) return keep(name);
  }
  Query query("ImportKeyPair");
  query.add("KeyName", name).add("PublicKeyMaterial", in_base64(key));
  add_tags({"key-pair"}, tags, query);
  try {
    api_.change(query, op);
  } catch (const Refused& refused) {
    if (refused.code() != "InvalidKeyPair.Duplicate")
      throw refusal_error(refused, "import the key pair " + name);
  }
  const std::lock_guard lock(mutex_);
  return keep(name);
}

KeyPairs::Name KeyPairs::keep(const std::string& name) {
  std::weak_ptr<const std::string>& known = known_[name];
  Name out = known.lock();
  if (out == nullptr) known = out = std::make_shared<const std::string>(name);
  return out;
}

void KeyPairs::forget(const std::string& name) {
  const std::lock_guard lock(mutex_);
  known_.erase(name);
}

bool KeyPairs::is_left(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(name);
  return is_digest(after(begin_, name)) && !last_.empty() && name != last_ &&
         (found == known_.end() || found->second.expired());
}

bool is_shared_key_pair(const std::string& name) { return is_digest(after("hostler-", name)); }

}  // namespace hostler::ec2
