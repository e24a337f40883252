#pragma once

#include <string>

#include "core/model/host.h"

namespace hostler::hosts {

/// What an interruption check has printed, as a notice. It is free text, or JSON of any shape: the
/// first time in it, such as 2026-11-25T04:05:06Z, says when; the first of the words terminate,
/// stop, hibernate, suspend, freeze, restart and reboot says what, whatever its ending and its
/// letters' case. Other texts, too, are notices. Empty: there is none, kWithdrawn. Pure.
[[nodiscard]] model::HostInterruption read_notice(const std::string& text);

}  // namespace hostler::hosts
