#pragma once

#include <functional>
#include <span>
#include <string>

#include "core/store/database.h"

/// One statement for many keys, in place of one each: "... WHERE id IN (" + in_list() + ")".
namespace hostler::store {

/// "$1, $2, ...": the places of a list. Always as many, so that a statement is prepared once.
const std::string& in_list();

/// The same places as rows of one number each, to select from: "VALUES " + number_rows().
const std::string& number_rows();

/// Runs a statement that has these places and no others for all of `keys`, part by part; `each` is
/// called at every row. A key in `keys` twice may give its rows twice.
Result<void> for_each_in(Statement& statement, std::span<const Value> keys,
                         const std::function<Result<void>(const Statement&)>& each);
/// Likewise one that gives no rows.
Result<void> run_in(Statement& statement, std::span<const Value> keys);

}  // namespace hostler::store
