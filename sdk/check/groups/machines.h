#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sdk/check/host/session.h"

namespace hostler::check {

/// A new machine. Nothing: the test has failed.
std::optional<model::ListedInstance> make_machine(Context& c, Session& session);
/// The same, once a list shows it. Nothing, too, when the run is being ended.
std::optional<model::ListedInstance> make_listed_machine(Context& c, Session& session);
/// Waits until a list shows the machine. False: the test has failed, or the run is being ended.
bool expect_listed(Context& c, Session& session, const model::ListedInstance& made);
/// Waits until no list shows a machine that was destroyed, or only as TERMINATING. False: the test
/// has failed, or the run is being ended.
bool expect_gone(Context& c, Session& session, const model::ListedInstance& made);

/// Whether one of them was made with the key, and is not gone.
bool has_key(const std::vector<model::ListedInstance>& machines, const std::string& key);

/// A create has made no machine: reports that as a refusal of the cloud if it is one, else as a
/// break of the rule, with what the check file has to say if the cloud has no such machine.
void report_no_machine(Context& c, const model::CloudError& error, const char* rule = "R23",
                       const std::string& what = "no machine is made");

/// TRANSIENT or TIMEOUT: what the cloud said made no sense, or did not come.
bool is_temporary(model::CloudErrorClass cls);

}  // namespace hostler::check
