#pragma once

#include <string>
#include <utility>

#include "core/agent/protocol.h"
#include "core/crypto/hash.h"
#include "tests/integration/hosts/fake_daemon.h"

/// Agents that are an enemy's.
namespace hostler::test {

template <class... Messages>
std::string frames(const Messages&... messages) {
  std::string out;
  (void)(agent::encode(messages, out) && ...);
  return out;
}

/// A program that says `words`, does what the shell script `then` says (with `again`, which says
/// `over_and_over`), and reads nothing.
inline std::string enemy(const std::string& words, const std::string& then,
                         const std::string& over_and_over = "") {
  const auto tail = [](std::size_t bytes) {
    return "tail -c " + std::to_string(bytes) + " \"$0\"";
  };
  return "#!/bin/sh\nagain() { " + tail(over_and_over.size()) + "; }\n" +
         tail(words.size() + over_and_over.size()) + " | head -c " + std::to_string(words.size()) +
         "\n" + then + "\nexit\n" + words + over_and_over;
}

inline void install(FakeDaemon& daemon, std::string program) {
  daemon.settings.agent_program = std::move(program);
  daemon.settings.agent_sha256 = crypto::sha256_hex(daemon.settings.agent_program);
}

}  // namespace hostler::test
