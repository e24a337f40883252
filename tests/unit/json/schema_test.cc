#include "core/json/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hostler::json {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string schema_error_of(std::string_view schema, std::string_view value = "{}") {
  const auto checked = schema_problems(schema, value);
  return checked ? "checked" : checked.error().message;
}

constexpr const char* kSchema = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object", "additionalProperties": false, "required": ["root"],
  "$defs": {"path": {"type": "string", "pattern": "^/"}},
  "properties": {
    "root": {"$ref": "#/$defs/path"},
    "zones": {"type": "array", "items": {"type": "string"}},
    "types": {"additionalProperties": {"properties": {"stock": {"type": "integer"}}}}}})";

TEST(SchemaTest, AcceptsWhatTheSchemaAllows) {
  const auto checked = schema_problems(
      kSchema, R"({"root": "/x", "zones": ["a"], "types": {"small": {"stock": 3}}})");
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_THAT(*checked, ElementsAre());
}

TEST(SchemaTest, NamesThePathOfWhatIsWrong) {
  const auto checked = schema_problems(
      kSchema, R"({"root": "x", "zones": ["a", 1], "types": {"a b": {"stock": "all"}}, "y": 1})");
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_THAT(*checked,
              ::testing::UnorderedElementsAre(HasSubstr("root: "), HasSubstr("zones[1]: "),
                                              HasSubstr(R"(types["a b"].stock: )"),
                                              "unknown key 'y'; check the spelling"));
  EXPECT_THAT(*schema_problems(kSchema, "{}"), ElementsAre(HasSubstr("'root'")));
}

TEST(SchemaTest, AlternativesAreToldInPlainWords) {
  EXPECT_THAT(*schema_problems(R"({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]})",
                               R"({"a": 1, "b": 2})"),
              ElementsAre(HasSubstr("none of the alternatives of the schema, or more than one")));
}

TEST(SchemaTest, AConditionIsToldByWhatItDemands) {
  EXPECT_THAT(*schema_problems(
                  R"({"if": {"not": {"required": ["a"]}}, "then": {"required": ["b"]}})", "{}"),
              ElementsAre(HasSubstr("'b'")));
}

// Bug of RapidJSON's validator, and of valijson: they recurse until the stack is full.
TEST(SchemaTest, ASchemaThatRefersToItselfWithoutAnEndIsRefused) {
  for (const char* schema :
       {R"({"$ref": "#"})", R"({"allOf": [{"$ref": "#"}]})", R"({"not": {"$ref": "#"}})",
        R"({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
            "$ref": "#/$defs/a"})",
        R"({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}})",
        R"({"dependencies": {"x": {"$ref": "#"}}})",
        R"({"allOf": [{"allOf": [{"$ref": "#/allOf/0"}]}]})", R"({"if": {"$ref": "#"}})",
        R"({"properties": {"a/b": {"oneOf": [{"$ref": "#/properties/a~1b"}]}}})"})
    EXPECT_THAT(schema_error_of(schema), HasSubstr("refers to itself")) << schema;
}

TEST(SchemaTest, AReferenceIsSpelledInOneWayOnly) {
  for (const char* schema :
       {R"({"allOf": [{"$ref": "#/allOf/00"}]})", R"({"$ref": "#/"})", R"({"": {}, "$ref": "#/"})",
        R"({"$defs": {"a": {"$ref": "#/%24defs/a"}}})", R"({"$ref": "#/none"})"})
    EXPECT_THAT(schema_error_of(schema), HasSubstr("it refers to ")) << schema;
}

TEST(SchemaTest, ASchemaMayDescribeTrees) {
  constexpr const char* kTree =
      R"({"properties": {"child": {"$ref": "#"}}, "additionalProperties": false})";
  EXPECT_THAT(*schema_problems(kTree, R"({"child": {"child": {}}})"), ElementsAre());
  EXPECT_THAT(*schema_problems(kTree, R"({"child": {"child": {"x": 1}}})"),
              ElementsAre(HasSubstr("child.child: ")));
}

TEST(SchemaTest, LoadsNoOtherDocument) {
  EXPECT_THAT(schema_error_of(R"({"$ref": "http://127.0.0.1:1/x"})"),
              HasSubstr("another document"));
  EXPECT_THAT(schema_error_of(R"({"items": {"$ref": "file:///etc/passwd#"}})"),
              HasSubstr("another document"));
}

TEST(SchemaTest, AlternativesAreLimited) {
  std::string schema = R"({"$defs": {"d0": {"type": "object"})";
  for (int i = 1; i < 20; ++i) {
    const std::string before = R"({"$ref": "#/$defs/d)" + std::to_string(i - 1) + "\"}";
    schema += ",\"d" + std::to_string(i) + R"(": {"anyOf": [)" + before + "," + before + "]}";
  }
  EXPECT_THAT(schema_error_of(schema + R"(}, "$ref": "#/$defs/d19"})"), HasSubstr("too many"));
}

TEST(SchemaTest, WhatCannotBeCheckedIsAnError) {
  for (const char* schema :
       {"", "[", R"({"type": 5})", R"({"properties": []})", R"({"$ref": "#/$defs/none"})",
        R"({"pattern": "("})", R"({"required": "root"})", "5", "[]"})
    EXPECT_NE(schema_error_of(schema, R"("text")"), "checked") << schema;
  EXPECT_THAT(schema_error_of("{}", "\"" + std::string(5000, 'x') + "\""), HasSubstr("1024 bytes"));
}

}  // namespace
}  // namespace hostler::json
