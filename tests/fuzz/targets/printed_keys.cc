#include "core/ssh/printed_keys.h"
#include "core/base/text.h"
#include "tests/fuzz/target.h"

/// The console of a machine, which may hold anything.
namespace hostler::fuzz {
namespace {

// Made for this; the private half is gone.
constexpr std::string_view kKey =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGXfQ3nYPxIlgtrHbkOmMuH0bmTMQkxhUdqYqTZyMgEb";

void check(const std::string& console) {
  const auto key = crypto::parse_public_key(kKey);
  promise(key.has_value(), "the key is one");
  const auto blocks = ssh::find_printed_keys(console);
  promise(blocks.size() <= 16, "a few blocks");
  for (const auto& block : blocks) {
    promise(!block.empty() && block.size() <= 32, "a few keys");
    for (const auto& one : block)
      promise(one.fingerprint.starts_with("SHA256:") && one.fingerprint.size() == 50,
              "each has a fingerprint", one.fingerprint);
  }
  const bool is_there = console.find(kKey.substr(12)) != std::string::npos ||
                        console.find(key->fingerprint()) != std::string::npos;
  promise(is_there || ssh::judge_printed(blocks, *key) != ssh::Printed::kThisKey,
          "a key that is not there is not vouched for", console);
}

}  // namespace
}  // namespace hostler::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hostler::fuzz;
  const std::string text(as_text(data, size));
  check(text);
  // What is broken is inside a block.
  check("-----BEGIN SSH HOST KEY KEYS-----\n" + text + "\n-----END SSH HOST KEY KEYS-----\n");
  check("-----BEGIN SSH HOST KEY FINGERPRINTS-----\n" + text +
        "\n-----END SSH HOST KEY FINGERPRINTS-----\n");
  return 0;
}
