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

/// Whether one of them was made with the key, and is not gone.
bool has_key(const std::vector<model::ListedInstance>& machines, const std::string& key);

/// Why a create made none, and what the check file has to say if the cloud has no such machine.
std::string why_none_is_made(const Context& c, const model::CloudError& error);

/// TRANSIENT or TIMEOUT: what the cloud said made no sense, or did not come.
bool is_temporary(model::CloudErrorClass cls);

}  // namespace hostler::check
