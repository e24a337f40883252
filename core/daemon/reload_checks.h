#pragma once

#include "core/config/config.h"

/// What is looked at before a reload is applied. Main thread.
namespace hostler::daemon {

class Clouds;
class Loop;

/// Only of sets whose config changes: a newer driver may have a schema that is stricter than the
/// driver that runs.
Result<void> check_set_configs(const config::Config& old, const config::Config& fresh,
                               const Clouds& clouds);
/// Logs how many instances are of types that the fresh configuration does not have.
void warn_of_dropped_types(const model::SitePolicy& old, const model::SitePolicy& fresh,
                           Loop& loop);

}  // namespace hostler::daemon
