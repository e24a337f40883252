#pragma once

#include "core/json/document.h"

/// Answers about plans, for people.
namespace hostler::cli {

/// Prints the actions of a plan, and what becomes of the work.
void print_plan(json::Value answer);
/// Prints what would become of each job or lease; equal ones in a row are one line. Returns the
/// exit status.
int show_dry_run(json::Value answer, bool as_json);
/// Prints what a reload would change.
void print_config_diff(json::Value answer);

}  // namespace hostler::cli
