#include "core/tap/comparison.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "core/base/join.h"
#include "core/base/text.h"

namespace hostler::tap {
namespace {

using Keys = std::set<std::string>;

/// Members that one moment has and another has not.
constexpr std::array<std::string_view, 13> kOfTheMoment{
    "address",    "ssh_port", "state",        "state_reason", "state_error",
    "shortage",   "idle",     "tags_unknown", "created_us",   "interruption_us",
    "request_id", "bytes",    "as_of_us"};
/// Of errors: their words and numbers may change.
constexpr std::array<std::string_view, 3> kOfErrors{"message", "retry_after_us", "crash"};

void add_keys(const json::Value& object, Keys& out) {
  for (const json::Value member : object.children())
    if (std::ranges::find(kOfTheMoment, member.key()) == kOfTheMoment.end() &&
        std::ranges::find(kOfErrors, member.key()) == kOfErrors.end())
      out.insert(printable(member.key(), 63));
}

Keys keys_of_all(const json::Value& records) {
  Keys out;
  for (const json::Value record : records.children()) add_keys(record, out);
  return out;
}

void compare_keys(const std::string& what, const Keys& before, const Keys& now,
                  std::vector<std::string>& out) {
  Keys lost, fresh;
  std::ranges::set_difference(before, now, std::inserter(lost, lost.end()));
  std::ranges::set_difference(now, before, std::inserter(fresh, fresh.end()));
  if (!lost.empty())
    out.push_back(what + " without " + join(lost, ", ") + ", which the recording has");
  if (!fresh.empty()) out.push_back(what + " with " + join(fresh, ", ") + ", which are new");
}

/// How many there are says what the account has, not what the driver does.
bool may_be_empty(Function function) {
  return function == Function::kList || function == Function::kListLeftovers ||
         function == Function::kPriceHistory;
}

}  // namespace

std::vector<std::string> compare(const Call& recorded, const Outcome& now) {
  std::vector<std::string> out;
  if (recorded.status != now.status) {
    out.push_back("the status was " + recorded.status + ", and is " + now.status);
    return out;
  }
  if (!recorded.ok()) {
    const auto error = json::Document::parse(now.error);
    if (!error) return out;
    Keys before, after;
    add_keys(recorded.error(), before);
    add_keys(error->root(), after);
    compare_keys("the error is", before, after, out);
    if (const auto scope = error->root().at("scope").int_or(0);
        scope != recorded.error().at("scope").int_or(0))
      out.push_back("the scope of the error was " +
                    std::to_string(recorded.error().at("scope").int_or(0)) + ", and is " +
                    std::to_string(scope));
    return out;
  }
  const auto parsed = json::Document::parse("{" + now.records.members() + "}");
  if (!parsed) return out;
  const json::Value records = parsed->root().at("records");
  const bool had = recorded.records().size() > 0, has = records.size() > 0;
  if (had != has) {
    if (!may_be_empty(recorded.function))
      out.emplace_back(had ? "the recording has records, and now there are none"
                           : "there are records, and the recording has none");
    return out;
  }
  compare_keys("records are", keys_of_all(recorded.records()), keys_of_all(records), out);
  return out;
}

}  // namespace hostler::tap
