#include "core/api/openapi.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "core/api/route_table.h"
#include "core/json/document.h"
#include "core/model/event.h"
#include "tests/unit/api/fake_service.h"
#include "tests/unit/api/wire.h"

/// The document says of every route what the table of routes says, and nothing more. That answers
/// are as it says is for the integration tests to see.
namespace hostler::api {
namespace {

using json::Value;

struct Said {
  std::string role;  ///< "" where anybody may.
  std::set<std::string> query;
  friend bool operator==(const Said&, const Said&) = default;
  friend void PrintTo(const Said& said, std::ostream* out) {
    *out << "role '" << said.role << "', query";
    for (const auto& key : said.query) *out << " " << key;
  }
};
/// By "GET /v1/jobs/{}".
using Surface = std::map<std::string, Said>;

json::Document parsed() {
  auto document = json::Document::parse(openapi_json());
  EXPECT_TRUE(document) << document.error().message;
  return std::move(*document);
}

/// "/v1/jobs/{id}" as "/v1/jobs/{}".
std::string unnamed(std::string_view path) {
  std::string out;
  for (bool named = false; const char c : path) {
    if (c == '}') named = false;
    if (!named) out += c;
    if (c == '{') named = true;
  }
  return out;
}

/// "read scaler": the lowest role, and the one that is beside the others.
std::string roles_of(const Route& route) {
  std::string out = route.role ? to_string(*route.role) : "";
  if (route.for_scalers && *route.role != Role::kScaler) out += " scaler";
  return out;
}

Surface of_the_table() {
  Surface out;
  for (const Route& route : routes()) {
    std::string path;
    for (const auto part : route.path)
      path += "/" + (part.starts_with('*') ? std::string("{}") : std::string(part));
    out[std::string(route.method) + " " + path] = {
        roles_of(route), std::set<std::string>(route.query.begin(), route.query.end())};
  }
  return out;
}

/// What a value is, or what it refers to.
Value resolved(Value root, Value value) {
  if (!value.has("$ref")) return value;
  Value at = root;
  for (const auto step : split(value.at("$ref").text().substr(2), '/')) at = at.at(step);
  return at;
}

std::string role_of(Value root, Value operation) {
  const Value needed = operation.has("security") ? operation.at("security") : root.at("security");
  if (needed.size() == 0) return "";
  std::string out;
  for (const Value one : needed.children())
    for (const Value role : one.at("token").children())
      out += (out.empty() ? "" : " ") + std::string(role.text());
  return out;
}

Surface of_the_document(Value root) {
  Surface out;
  for (const Value path : root.at("paths").children())
    for (const Value operation : path.children()) {
      if (operation.key() == "parameters") continue;
      std::string method(operation.key());
      for (char& c : method) c = static_cast<char>(c - 'a' + 'A');
      Said said{role_of(root, operation), {}};
      for (const Value each : operation.at("parameters").children())
        if (const Value one = resolved(root, each); one.at("in").text() == "query")
          said.query.emplace(one.at("name").text());
      out[method + " " + unnamed(path.key())] = std::move(said);
    }
  return out;
}

/// Every text of a `$ref` below a value.
void collect_references(Value at, std::set<std::string>& out) {
  for (const Value child : at.children()) {
    if (child.key() == "$ref") out.emplace(child.text());
    collect_references(child, out);
  }
}

TEST(OpenapiTest, TellsOfEveryRouteItsMethodRoleAndQueryAndOfNoOther) {
  EXPECT_EQ(of_the_document(parsed().root()), of_the_table());
}

TEST(OpenapiTest, NamesEveryVariablePartOfAPath) {
  const auto document = parsed();
  for (const Value path : document.root().at("paths").children()) {
    std::string braces;
    for (const Value each : path.at("parameters").children())
      braces += "{" + std::string(resolved(document.root(), each).at("name").text()) + "}";
    std::string named;
    for (const auto part : split(path.key(), '/'))
      if (part.starts_with('{')) named += part;
    EXPECT_EQ(braces, named) << path.key();
  }
}

TEST(OpenapiTest, RefersToWhatItHas) {
  const auto document = parsed();
  std::set<std::string> references;
  collect_references(document.root(), references);
  EXPECT_GT(references.size(), 30U);
  for (const auto& reference : references) {
    Value at = document.root();
    for (const auto step : split(std::string_view(reference).substr(2), '/')) at = at.at(step);
    EXPECT_FALSE(at.is(json::Kind::kNull)) << reference;
  }
}

TEST(OpenapiTest, SaysThatARefusalForTheRoleMayComeWhereOneIsNeeded) {
  const auto document = parsed();
  for (const Value path : document.root().at("paths").children())
    for (const Value operation : path.children()) {
      if (operation.key() == "parameters" || !operation.has("security")) continue;
      EXPECT_EQ(operation.at("responses").has("403"), operation.at("security").size() != 0)
          << path.key();
    }
}

TEST(OpenapiTest, KnowsEveryCodeOfAnError) {
  const auto document = parsed();
  std::set<std::string> there;
  const Value schemas = document.root().at("components").at("schemas");
  for (const Value code : schemas.at("Error").at("properties").at("code").at("enum").children())
    there.emplace(code.text());
  std::set<std::string> codes;
  for (const Errc code : {Errc::kInvalidArgument, Errc::kForbidden, Errc::kNotFound,
                          Errc::kConflict, Errc::kTooLarge, Errc::kOverQuota, Errc::kUnavailable,
                          Errc::kOutcomeUnknown, Errc::kMisbehaving, Errc::kInternal})
    codes.emplace(to_string(code));
  EXPECT_EQ(there, codes);
}

TEST(OpenapiTest, ListsTheCodesOfTheTablesOfEventsAndReasons) {
  const auto document = parsed();
  const auto examples = [&](const char* schema) {
    std::set<std::string> out;
    const Value all = document.root().at("components").at("schemas").at(schema);
    for (const Value code : all.at("examples").children()) out.emplace(code.text());
    return out;
  };
  const auto codes = [](const auto& table) {
    std::set<std::string> out;
    for (const auto& one : table) out.emplace(one.code);
    return out;
  };
  EXPECT_EQ(examples("EventCode"), codes(model::all_events()));
  EXPECT_EQ(examples("ReasonCode"), codes(model::all_reasons()));
  EXPECT_EQ(examples("WaitingCode"), codes(model::all_waiting_codes()));
}

class ServedDocumentTest : public ApiTest {};

TEST_F(ServedDocumentTest, IsWhatTheProgramWasBuiltWith) {
  const auto got = Wire::to_socket(socket).ask("GET", "/v1/openapi.json");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.headers.at("content-type"), "application/json");
  EXPECT_EQ(got.body, openapi_json());
}

}  // namespace
}  // namespace hostler::api
