#pragma once

#include <string>
#include <vector>

#include "core/base/time.h"
#include "sdk/check/process/output.h"
#include "sdk/check/run/findings.h"

namespace hostler::check {

// What the process of a test could not say itself.
/// How it has ended; nothing if the test was finished. `status`: as waitpid() says it.
void explain_end(int status, Findings& findings);
/// It was ended after so long.
void explain_timeout(Duration time, Findings& findings);
/// It wrote this. A runtime that ends the process says so.
void judge_output(const Output& output, const std::vector<std::string>& secrets,
                  Findings& findings);

}  // namespace hostler::check
