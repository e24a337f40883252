#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/agent/protocol.h"

namespace hostler::agent {

/// Which program tells of the cards of this host.
struct CardTool {
  Cards::Tool tool = Cards::Tool::kNone;
  std::vector<std::string> command;  ///< With its arguments; empty: there is none.
};

/// The pool's command if it has one, else nvidia-smi, else rocm-smi: the first that is there.
/// `folders` is where they are looked for, as PATH has it.
CardTool find_card_tool(const std::string& cards_command, std::string_view folders);

/// PATH of this process, and where ROCm is installed.
std::string card_tool_folders();

}  // namespace hostler::agent
