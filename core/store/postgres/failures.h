#pragma once

#include <string>
#include <string_view>

#include "core/store/database.h"

/// What PostgreSQL's error codes (SQLSTATE) ask of the store.
namespace hostler::store::postgres {

/// Never kUnknown: that takes more than a code.
Failure failure_of(std::string_view sqlstate);
/// After this code the session is of no use any more, though it may still stand: the server became
/// a standby, or forgot what was prepared.
bool ends_session(std::string_view sqlstate);
/// "; what to do", or nothing.
std::string_view advice(std::string_view sqlstate);
/// The same for a connection that was refused, which comes without a code.
std::string_view advice_on_refusal(std::string_view message);

}  // namespace hostler::store::postgres
