#pragma once

#include <string>
#include <vector>

#include "core/cli/client.h"
#include "core/json/document.h"

/// Functions that commands for jobs and commands for leases share.
namespace hostler::cli {

/// The last column of a list: why the work waits, or how it ended.
std::string why_so(json::Value work);
/// "cancelled: by user root"; empty: the lease has not ended.
std::string how_it_ended(json::Value lease);
/// The time at which the term of a lease ends, to the second: of an answer that has `until`.
std::string end_of_term(json::Value answer);
/// Posts `action` for each; prints what fails, and returns the last such exit status.
int act_on_work(Client& client, const std::vector<std::string>& ids, const std::string& action,
                const std::string& body = "");

}  // namespace hostler::cli
