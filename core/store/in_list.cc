#include "core/store/in_list.h"

#include <algorithm>
#include <vector>

#include "core/base/assert.h"

namespace hostler::store {
namespace {

constexpr std::size_t kPlaces = 100;

/// Takes the next keys off `keys`. The last key fills the remaining parameters, which changes
/// nothing, as it is in the list already.
std::vector<Value> next_part(std::span<const Value>& keys) {
  HOSTLER_ASSERT(!keys.empty(), "a part of a list is taken only while keys are left");
  const auto part = keys.first(std::min(keys.size(), kPlaces));
  keys = keys.subspan(part.size());
  std::vector<Value> out(part.begin(), part.end());
  out.resize(kPlaces, part.back());
  return out;
}

std::string places(const std::string& before, const std::string& after) {
  std::string list;
  for (std::size_t i = 1; i <= kPlaces; ++i)
    list += (i == 1 ? "" : ", ") + before + "$" + std::to_string(i) + after;
  return list;
}

}  // namespace

const std::string& in_list() {
  static const std::string kList = places("", "");
  return kList;
}

const std::string& number_rows() {
  static const std::string kRows = places("(CAST(", " AS BIGINT))");
  return kRows;
}

Result<void> for_each_in(Statement& statement, std::span<const Value> keys,
                         const std::function<Result<void>(const Statement&)>& each) {
  while (!keys.empty()) {
    const auto part = next_part(keys);
    HOSTLER_TRY(statement.start_with(part));
    while (HOSTLER_TRY(statement.next())) HOSTLER_TRY(each(statement));
  }
  return {};
}

Result<void> run_in(Statement& statement, std::span<const Value> keys) {
  while (!keys.empty()) HOSTLER_TRY(statement.run_with(next_part(keys)));
  return {};
}

}  // namespace hostler::store
