#pragma once

#include <string>
#include <string_view>

#include "core/store/database.h"

/// Classes of PostgreSQL's error codes (SQLSTATE).
namespace hostler::store::postgres {

/// Never kUnknown, which a code alone cannot tell.
Failure failure_of(std::string_view sqlstate);
/// After this code the session cannot be used any more, though it is open: the server became a
/// standby, or forgot the prepared statements.
bool ends_session(std::string_view sqlstate);
/// "; " and what to do, or empty.
std::string_view advice(std::string_view sqlstate);
/// Likewise for a refused connection, which has no code.
std::string_view advice_on_refusal(std::string_view message);

}  // namespace hostler::store::postgres
