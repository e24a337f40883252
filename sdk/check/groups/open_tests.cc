// Group D, first part: sets are opened and closed.
#include "core/base/text.h"
#include "core/driver_host/child/confinement.h"
#include "core/json/document.h"
#include "core/json/schema.h"
#include "core/plugin_host/library_file.h"
#include "sdk/check/groups/begin.h"
#include "sdk/check/groups/manifest.h"
#include "sdk/check/host/session.h"

namespace hostler::check {
namespace {

using model::CloudErrorClass;

constexpr std::size_t kHugeText = std::size_t{1} << 20U;
constexpr int kNesting = 2000;

/// What is done then, the session and its host do.
void open_and_close(Context& /*c*/, Session& /*session*/) {}

/// A member of the config's schema, in a config that is wrong there.
struct Wrong {
  std::string field;  ///< That the message should name; empty: none.
  std::string config_json;
};

/// Configs that no driver may take, made from its schema.
std::vector<Wrong> wrong_configs(const char* schema, const std::string& config) {
  const std::string deep = std::string(kNesting, '[') + std::string(kNesting, ']');
  std::vector<Wrong> out{{"", "null"}, {"", "[]"}, {"", R"({"a")"}, {"", R"({"a":)" + deep + "}"}};
  const auto document = json::Document::parse(schema == nullptr ? "{}" : schema);
  if (!document) return out;
  const auto root = document->root();
  for (const json::Value key : root.at("required").children())
    out.push_back({std::string(key.text()), with_value(config, key.text(), "")});
  if (!root.at("additionalProperties").bool_or(true))
    out.push_back({"kit_unknown_key", with_value(config, "kit_unknown_key", "1")});
  for (const json::Value member : root.at("properties").children())
    for (const std::string& raw :
         {std::string("null"), std::string("[[]]"), "\"" + std::string(kHugeText, 'x') + "\""})
      out.push_back({std::string(member.key()), with_value(config, member.key(), raw)});
  return out;
}

bool schema_allows(const char* schema, const std::string& config) {
  const auto problems = json::schema_problems(schema == nullptr ? "{}" : schema, config);
  return problems && problems->empty();
}

void refuse_wrong_configs(Context& c, const Library& library) {
  const char* const schema = Relay::get().driver().config_schema_json;
  for (const auto& wrong : wrong_configs(schema, c.settings.config_json)) {
    if (c.stops || schema_allows(schema, wrong.config_json)) continue;
    const bool is_huge = wrong.config_json.size() > kHugeText;
    Session session(c, library);
    auto config = session.config();
    config.config_json = wrong.config_json;
    const auto opened = session.open(config);
    const std::string about = wrong.field.empty() ? printable(wrong.config_json, 40) : wrong.field;
    if (opened) {
      // A text that is only too long may be legal: the schema cannot be asked.
      if (!is_huge && schema != nullptr)
        c.findings.fail("R34", "set_open", "takes a config that is wrong in " + about);
      continue;
    }
    const auto cls = opened.error().cls;
    const bool is_refused =
        cls == CloudErrorClass::kInvalid || cls == CloudErrorClass::kUnsupported;
    if (!is_refused && !is_huge)
      c.findings.fail("R34", "set_open",
                      "answers a config that is wrong in " + about + " with " + to_string(cls) +
                          ", not INVALID: " + opened.error().message);
    else if (!is_huge && !wrong.field.empty() &&
             opened.error().message.find(wrong.field) == std::string::npos)
      c.findings.warn(
          "R34", "set_open",
          "the message does not name the field " + wrong.field + ": " + opened.error().message);
  }
}

void list_once(Context& /*c*/, Session& session) { (void)session.list(); }

/// As the process of a driver is confined, before its library is loaded.
void open_confined(Context& c) {
  driver_host::SandboxOptions sandbox;
  if (const auto manifest = read_own_manifest(c.options)) sandbox.level = manifest->sandbox;
  if (sandbox.level == model::Sandbox::kNone)
    return c.findings.skip("its manifest asks for no sandbox");
  const auto file = plugin_host::open_untrusted_library(
      c.options.library, plugin_host::own_files_of(c.options.library));
  if (!file) return c.findings.fail("R1", "", file.error().message);
  (void)hygiene();
  const auto confined = driver_host::confine(sandbox, *file);
  if (!confined || confined->level != sandbox.level)
    return c.findings.skip("this machine has no sandbox for it: " +
                           (confined ? confined->why_less : confined.error().message));
  on_open_set<list_once>(c);
}

void open_two(Context& c, const Library& library) {
  Session first(c, library), second(c, library), third(c, library);
  if (!first.open_or_skip() || !second.open_or_skip() || !third.open_or_skip("driver-check-2"))
    return;
  if (first.info().account_id != second.info().account_id)
    c.findings.fail("R34", "set_info", "two sets with one config report two accounts");
  second.close();
  if (const auto listed = first.list(); !listed)
    c.findings.fail("R3", "list", "fails after another set was closed: " + listed.error().message);
}

}  // namespace

void add_open_tests(std::vector<Test>& to) {
  using enum Needs;
  to.push_back({"open.close", 'D', 1, kNothing, "a set opens, says what it is, and closes",
                &on_open_set<open_and_close>});
  to.push_back({"open.wrong_config", 'D', 1, kNothing,
                "a wrong config is INVALID, and the message names the field",
                &on_library<refuse_wrong_configs>});
  to.push_back({"open.confined", 'D', 1, kNothing,
                "a set opens in the sandbox that the driver will run in", &open_confined});
  to.push_back(
      {"open.two", 'D', 1, kNothing, "sets do not notice one another", &on_library<open_two>});
}

}  // namespace hostler::check
