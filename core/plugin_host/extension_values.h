#pragma once

#include <string>

#include "core/model/cloud_records.h"
#include "core/plugin_host/abi_values.h"

/// Converts the records of the draft extensions to the model's values.
namespace hostler::plugin_host {

// Each reads one record of its kind into a new value. Returns the rule that the record breaks;
// empty if none.
std::string read_offering(const hostler_rec& record, model::CloudOffering& out, TextsLeft& left);
std::string read_interruption(const hostler_rec& record, model::Interruption& out);
std::string read_leftover(const hostler_rec& record, model::Leftover& out, TextsLeft& left);
std::string read_image(const hostler_rec& record, model::Image& out, TextsLeft& left);
/// Appends the piece to `out`, which has the pieces before it.
std::string read_console(const hostler_rec& record, model::ConsoleText& out, TextsLeft& left);

}  // namespace hostler::plugin_host
