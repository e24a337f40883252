#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/agent/protocol.h"
#include "core/base/error.h"
#include "core/model/card.h"

/// One reader for each tool. Each gets well-formed UTF-8 and checks nothing that check.h checks for
/// all of them. An error (kInvalidArgument) says what is wrong with the text.
namespace hostler::cards {

/// What `nvidia-smi --query-gpu=... --format=csv,noheader,nounits` prints, with its errors. Some
/// lines explain an exit status other than 0; without one, such a status is an error.
Result<std::vector<model::Card>> read_nvidia(const agent::Cards& reading);
/// What `rocm-smi ... --json` prints.
Result<std::vector<model::Card>> read_rocm(const agent::Cards& reading);
/// What the pool's `gpu_command` prints.
Result<std::vector<model::Card>> read_command(const agent::Cards& reading);

/// "status 3: the first line of the text"; an error if the status is not 0.
Result<void> check_status(const agent::Cards& reading);

/// An address on the PCI bus as the kernel writes it: "00000000:3B:00.0" is "0000:3b:00.0". Empty
/// if the text is no address.
std::string bus_address(std::string_view text);
/// The paths of the files with this address.
std::vector<std::string> files_at(const agent::Cards& reading, const std::string& bus);

}  // namespace hostler::cards
