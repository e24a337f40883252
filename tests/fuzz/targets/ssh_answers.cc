#include <string>
#include <vector>

#include "core/base/text.h"
#include "core/ssh/challenge.h"
#include "core/ssh/greeting.h"
#include "core/ssh/init_state.h"
#include "core/ssh/scripts.h"
#include "tests/fuzz/target.h"

/// What a host says before it is proved: its banner and key exchange, and what its shell prints
/// around the answer to the challenge.
///
/// The input's first byte says whether the proof is among it, and where it is put.
namespace hostler::fuzz {
namespace {

const std::string kSecret(64, '7');
const ssh::Challenge kChallenge{"00112233445566778899aabbccddeeff", "h-7"};

void check_line(const std::string& text, std::size_t max) {
  promise(text.size() <= max, "what is said of a host is bounded", text);
  promise(is_utf8(text) && text.find('\n') == std::string::npos, "it is one printable line", text);
}

void check_greeting(std::string_view bytes) {
  ssh::Greeting whole;
  whole.add(bytes);
  ssh::Greeting pieces;
  const std::size_t middle = cut(bytes, 1);
  pieces.add(bytes.substr(0, middle));
  pieces.add(bytes.substr(middle));
  promise(whole.banner() == pieces.banner() && whole.explain() == pieces.explain() &&
              whole.host_key_algorithms() == pieces.host_key_algorithms(),
          "a split changes nothing");
  promise(whole.banner().empty() || whole.banner().starts_with("SSH-"), "a banner is one");
  promise(whole.banner().find('\n') == std::string_view::npos, "a banner is one line");
  check_line(whole.explain(), 600);
}

void check_challenge(std::string_view printed, std::uint8_t place) {
  const crypto::SshPublicKey key{"ssh-ed25519", "no key, and that does not matter here"};
  ssh::ExecResult said;
  said.status = place;
  said.output = printed;
  said.errors = printed.substr(0, place);
  const auto refused = ssh::check_proof(kChallenge, kSecret, key, said);
  promise(!refused, "no proof, no trust", printed);
  check_line(refused.error().message, 1500);

  // Noise before it, if it has not answered itself, and after it: the proof counts.
  const std::string proof = "hostler-proof " + kChallenge.nonce + " " +
                            ssh::expected_proof(kChallenge, kSecret, key) + "\n";
  const std::size_t at = printed.rfind('\n', cut(printed, place)) + 1;  // npos + 1 is 0
  said.output = std::string(printed.substr(0, at)) + proof + std::string(printed.substr(at));
  const bool answered = printed.find("hostler-proof " + kChallenge.nonce) != std::string_view::npos;
  promise(answered || ssh::check_proof(kChallenge, kSecret, key, said).has_value(),
          "a proof among noise is found", said.output);
  promise(!ssh::check_proof(kChallenge, "", key, said), "without a secret nothing is proved");
}

void check_init_state(std::string_view printed) {
  ssh::ExecResult said;
  said.output = printed;
  const std::string& nonce = kChallenge.nonce;
  if (const auto refused = ssh::parse_init_state(nonce, said); !refused)
    check_line(refused.error().message, 1500);
  said.output = "hostler-init " + nonce + " " + std::string(printed) + "\n";
  if (const auto state = ssh::parse_init_state(nonce, said)) {
    check_line(state->describe(), 1000);
    check_line(state->ending(), 100);
  }
  // What it printed may be any bytes.
  const ssh::InitState printed_this{ssh::InitState::Phase::kEnded, "1", std::string(printed)};
  check_line(printed_this.output_end(), 500);
}

}  // namespace
}  // namespace hostler::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hostler::fuzz::Bytes in(data, size);
  const std::uint8_t place = in.byte();
  hostler::fuzz::check_greeting(in.rest());
  hostler::fuzz::check_challenge(in.rest(), place);
  hostler::fuzz::check_init_state(in.rest());
  return 0;
}
