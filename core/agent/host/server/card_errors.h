#pragma once

#include <string>

namespace hostler::agent {

/// The Xid errors of cards of NVIDIA in the log of the kernel since its boot, or since the log was
/// cleared: a line "NVRM: Xid (PCI:0000:3b:00): 79" for each card and number, at most 64. Empty
/// where this process may not read the log. Does not block.
std::string read_card_errors(const std::string& kernel_log);

}  // namespace hostler::agent
