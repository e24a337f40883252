#include "core/crypto/ssh_keys.h"
#include "core/base/text.h"
#include "tests/fuzz/target.h"

/// Keys: what a host shows, what it prints when it makes one, and what a config names.
/// Those in the corpus were made for it and open nothing.
namespace hostler::fuzz {
namespace {

void check_key(const crypto::SshPublicKey& key) {
  promise(key.fingerprint().starts_with("SHA256:"), "a key has a fingerprint");
  const auto again = crypto::parse_public_key(key.line());
  promise(again && *again == key, "a key reads back from its line", key.line());
  const auto commented = crypto::parse_public_key(key.line() + " me@home\r\n");
  promise(commented && *commented == key, "a comment does not count", key.line());
}

void check(const Result<crypto::SshPublicKey>& key) {
  if (key) return check_key(*key);
  const std::string& said = key.error().message;
  promise(key.error().code == Errc::kInvalidArgument, "a bad key is an argument", said);
  promise(is_utf8(said) && said.size() < 400, "an error is a short text", said);
}

}  // namespace
}  // namespace hostler::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hostler;
  const std::string_view text = fuzz::as_text(data, size);
  fuzz::check(crypto::read_key_blob(text));
  fuzz::check(crypto::parse_public_key(text));
  const auto key = crypto::parse_private_key(text);
  fuzz::check(key);
  if (key)
    fuzz::promise(crypto::require_usable(*key).has_value(), "a key to log in with is usable");
  return 0;
}
