#include "core/json/schema.h"

// Before any header of RapidJSON, as it demands.
#include <valijson/adapters/rapidjson_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <map>
#include <optional>

#include "core/base/text.h"
#include "core/json/document.h"
#include "core/json/writer.h"

namespace hostler::json {
namespace {

constexpr std::size_t kReportedMax = 10, kTextMax = 1024, kProblemBytesMax = 300;
constexpr int kChainMax = 64;                 // of schemas that apply to the same value
constexpr std::uint64_t kChecksMax = 10'000;  // of one value

/// Looks for schemas that would never come to an end: valijson follows them until the stack is
/// full. Every object counts as a schema, so that nobody has to know where a schema may be.
class References {
 public:
  Result<void> check(Value root) {
    HOSTLER_TRY(collect(root, "#"));
    for (const auto& [pointer, node] : nodes_) HOSTLER_TRY(cost(pointer, 0));
    return {};
  }

 private:
  struct Node {
    std::vector<std::string> same_value;  ///< Pointers to schemas that apply to the same value.
    std::optional<std::uint64_t> checks;
  };

  /// As a part of a JSON pointer.
  static std::string step(std::string_view key) {
    std::string out = "/";
    for (const char c : key) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    return out;
  }

  Result<void> collect(Value value, const std::string& pointer) {
    Node& node = nodes_[pointer];
    if (value.is(Kind::kObject)) HOSTLER_TRY(add(value, pointer, node));
    std::size_t index = 0;
    for (const Value child : value.children()) {
      const bool is_member = value.is(Kind::kObject);
      HOSTLER_TRY(
          collect(child, pointer + (is_member ? step(child.key()) : step(std::to_string(index)))));
      ++index;
    }
    return {};
  }

  static Result<void> add(Value object, const std::string& pointer, Node& node) {
    constexpr std::array kLists{"allOf", "anyOf", "oneOf"};
    constexpr std::array kSingle{"not", "if", "then", "else"};
    constexpr std::array kByName{"dependencies", "dependentSchemas"};
    if (const Value reference = object.at("$ref"); reference.is(Kind::kString)) {
      const std::string to(reference.text());
      if (to != "#" && (!to.starts_with("#/") || to.ends_with('/')))
        return fail(Errc::kInvalidArgument, "it refers to another document: " + printable(to, 80));
      if (to.find('%') != std::string::npos)
        return fail(Errc::kInvalidArgument,
                    "it refers to " + printable(to, 80) + ": a % in it could hide a circle");
      node.same_value.push_back(to);
    }
    for (const char* key : kLists)
      for (std::size_t i = 0; i < object.at(key).size(); ++i)
        node.same_value.push_back(pointer + step(key) + step(std::to_string(i)));
    for (const char* key : kSingle)
      if (object.at(key).is(Kind::kObject)) node.same_value.push_back(pointer + step(key));
    for (const char* key : kByName)
      for (const Value one : object.at(key).children())
        if (one.is(Kind::kObject)) node.same_value.push_back(pointer + step(key) + step(one.key()));
    return {};
  }

  /// How many schemas are applied to a value because one is, itself included.
  Result<std::uint64_t> cost(const std::string& pointer, int depth) {
    const auto found = nodes_.find(pointer);
    // Other spellings of a pointer, such as "#/allOf/00", could hide a circle.
    if (found == nodes_.end())
      return fail(Errc::kInvalidArgument,
                  "it refers to " + printable(pointer, 80) + ", and there is no such part of it");
    Node& node = found->second;
    if (node.checks) return *node.checks;
    if (depth == kChainMax)
      return fail(Errc::kInvalidArgument,
                  "it refers to itself without an end, or too often: " + printable(pointer, 80));
    std::uint64_t sum = 1;
    for (const auto& to : node.same_value) sum += HOSTLER_TRY(cost(to, depth + 1));
    if (sum > kChecksMax)
      return fail(Errc::kTooLarge, "it has too many alternatives: " + printable(pointer, 80));
    node.checks = sum;
    return sum;
  }

  std::map<std::string, Node> nodes_;
};

bool has_long_text(Value value) {
  if (value.is(Kind::kString) && value.text().size() > kTextMax) return true;
  for (const Value child : value.children())
    if (child.key().size() > kTextMax || has_long_text(child)) return true;
  return false;
}

/// {"<root>", "[types]", "[0]"} as "types[0]".
std::string path_of(const std::vector<std::string>& context) {
  std::string out;
  for (std::size_t i = 1; i < context.size(); ++i) {
    std::string key = context[i];
    if (key.size() >= 2 && key.front() == '[') key = key.substr(1, key.size() - 2);
    const bool is_index = !key.empty() && std::ranges::all_of(key, [](unsigned char c) {
      return std::isdigit(c) != 0;
    });
    out += is_index ? "[" + key + "]" : path_step(key);
  }
  return out.starts_with('.') ? out.substr(1) : out;
}

/// It says only that something in it is wrong, which was said before.
bool tells_of_a_part(const std::string& description) {
  return description.starts_with("Failed to validate against schema associated") ||
         description.starts_with("Failed to validate against additional properties") ||
         description.starts_with("Failed to validate against a conditional schema") ||
         description.starts_with("Failed to validate item");
}

/// In other words where those of valijson do not tell a user what to do.
std::string in_plain_words(const std::string& description) {
  const std::size_t name = description.find(": '");
  if (description.starts_with("Object contains a property that could not be validated") &&
      name != std::string::npos && description.ends_with("'."))
    return "unknown key " + description.substr(name + 2, description.size() - name - 3) +
           "; check the spelling";
  if (description.starts_with("Failed to validate against exactly one child schema"))
    return "it fits none of the alternatives of the schema, or more than one";
  return description;
}

std::vector<std::string> texts_of(valijson::ValidationResults& results) {
  std::vector<std::string> out;
  valijson::ValidationResults::Error error;
  while (out.size() < kReportedMax && results.popError(error)) {
    if (tells_of_a_part(error.description)) continue;
    const std::string path = path_of(error.context);
    out.push_back(printable((path.empty() ? "" : path + ": ") + in_plain_words(error.description),
                            kProblemBytesMax));
  }
  return out;
}

std::vector<std::string> validate(const std::string& schema_text, const std::string& value_text) {
  rapidjson::Document schema_json, value_json;
  schema_json.Parse(schema_text.data(), schema_text.size());
  value_json.Parse(value_text.data(), value_text.size());
  valijson::Schema schema;
  valijson::SchemaParser parser;
  parser.populateSchema(valijson::adapters::RapidJsonAdapter(schema_json), schema);
  valijson::Validator validator;
  valijson::ValidationResults results;
  if (validator.validate(schema, valijson::adapters::RapidJsonAdapter(value_json), &results))
    return {};
  auto out = texts_of(results);
  if (out.empty()) out.emplace_back("it is not as the schema says");
  return out;
}

}  // namespace

Result<std::vector<std::string>> schema_problems(std::string_view schema, std::string_view value) {
  const auto parsed_schema = HOSTLER_TRY(Document::parse(schema));
  const auto parsed_value = HOSTLER_TRY(Document::parse(value));
  HOSTLER_TRY(References().check(parsed_schema.root()));
  if (has_long_text(parsed_value.root()))
    return fail(Errc::kTooLarge,
                "it has a string of more than " + std::to_string(kTextMax) + " bytes");
  try {
    return validate(to_text(parsed_schema.root()), to_text(parsed_value.root()));
  } catch (const std::exception& e) {
    return fail(Errc::kInvalidArgument, printable(e.what(), kProblemBytesMax));
  }
}

}  // namespace hostler::json
