#pragma once

#include "core/model/cloud.h"
#include "sdk/check/run/test.h"

namespace hostler::check {

/// Whether a cloud may refuse so what a driver has rightly asked for.
bool is_refusal(model::CloudErrorClass cls);

/// Reports a refusal of the cloud, and what the check file has to say of it. Where the file says it
/// already, the test is skipped; else it has failed.
void report_refusal(Context& c, const char* call, const model::CloudError& error);

}  // namespace hostler::check
