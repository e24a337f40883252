#pragma once

#include <string>
#include <vector>

#include "core/cli/client.h"
#include "core/json/document.h"

/// Functions that commands for jobs and commands for leases share.
namespace hostler::cli {

/// The last column of a list: why the work waits, or how it ended.
std::string why_so(json::Value work);
/// Posts `action` for each; prints what fails, and returns the last such exit status.
int act_on_work(Client& client, const std::vector<std::string>& ids, const std::string& action,
                const std::string& body = "");

}  // namespace hostler::cli
