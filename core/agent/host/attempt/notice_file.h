#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/agent/protocol.h"

/// How the server hands a notice of interruption to a shim: a small file, and SIGURG.
namespace hostler::agent {

/// "out/42.1.notice"
std::string notice_path(model::AttemptId attempt);

/// Writes the file whole or not at all; false if that fails. `now_us`: boottime.
bool write_notice(const Interrupt& notice, std::int64_t now_us);

struct ReadNotice {
  std::uint64_t notice = 0;
  std::int64_t at_us = 0;    ///< As Interrupt.
  std::int64_t ends_us = 0;  ///< The command is killed then, boottime.
  model::InterruptionAction action{};
};
/// nullopt: there is no such file, or it is not whole.
std::optional<ReadNotice> read_notice(model::AttemptId attempt);

}  // namespace hostler::agent
