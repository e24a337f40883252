#pragma once

#include <string>

#include "core/base/error.h"
#include "core/cli/commands.h"
#include "core/json/writer.h"

/// JSON of work, from the options of a command. Values are checked later, by the readers of
/// core/api.
namespace hostler::cli {

/// Refuses a value that is not UTF-8: JSON cannot carry other bytes unchanged.
Result<std::string> argument_text(const std::string& option, std::string value);
/// Writes the members of work of every kind.
Result<void> write_work(json::Writer& w, const WorkOptions& options);
/// Removes the position in the JSON text from the message: it helps nobody if that text was built
/// from options.
Error without_position(Error error);

}  // namespace hostler::cli
