#pragma once

#include <functional>
#include <span>
#include <string>

#include "core/store/database.h"

/// One statement for many keys, in place of one each: "... WHERE id IN (" + in_list() + ")".
namespace hostler::store {

/// "$1, $2, ...": the parameters of a list. Their number is fixed, so a statement is prepared once.
const std::string& in_list();

/// The same parameters as rows of one number each: "VALUES " + number_rows().
const std::string& number_rows();

/// Runs a statement with these parameters and no others for all of `keys`, 100 at a time, and calls
/// `each` at every row. A key that is in `keys` twice may give its rows twice.
Result<void> for_each_in(Statement& statement, std::span<const Value> keys,
                         const std::function<Result<void>(const Statement&)>& each);
/// Likewise for a statement that gives no rows.
Result<void> run_in(Statement& statement, std::span<const Value> keys);

}  // namespace hostler::store
