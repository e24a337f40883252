#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/config/readers.h"
#include "core/crypto/ssh_keys.h"
#include "core/json/writer.h"

namespace hostler::config {
namespace {

constexpr std::size_t kDriverConfigMax = std::size_t{256} * 1024;
constexpr std::array kIsolations{json::Word<Isolation>{"child", Isolation::kChild},
                                 json::Word<Isolation>{"in-process", Isolation::kInProcess}};
constexpr std::array kSandboxes{json::Word<Sandbox>{"full", Sandbox::kFull},
                                json::Word<Sandbox>{"files", Sandbox::kFiles},
                                json::Word<Sandbox>{"none", Sandbox::kNone}};
constexpr std::array kEscalations{json::Word<Escalate>{"auto", Escalate::kAuto},
                                  json::Word<Escalate>{"sudo", Escalate::kSudo},
                                  json::Word<Escalate>{"none", Escalate::kNone}};

/// Copies the driver's config and replaces placeholders in its strings. Does not check its keys.
void write_expanded(json::Writer& w, const json::Value& value, const Context& context) {
  switch (value.kind()) {
    case json::Kind::kString:
      w.value(expand(context, std::string(value.text())));
      return;
    case json::Kind::kArray:
      w.begin_array();
      for (const json::Value element : value.children()) write_expanded(w, element, context);
      w.end_array();
      return;
    case json::Kind::kObject:
      w.begin_object();
      for (const json::Value member : value.children())
        write_expanded(w.key(member.key()), member, context);
      w.end_object();
      return;
    default:
      w.value(value);
  }
}

void read_driver_config(const json::Field& field, const Context& context, std::string& out) {
  if (!field.object_text(out, kDriverConfigMax)) return;
  out.clear();
  json::Writer w(out);
  write_expanded(w, *field.value(), context);
}

void read_credentials(const json::Field& field, const Context& context, std::string& out) {
  std::string path, content;
  if (!read_secret(field, context, path, content)) return;
  const auto document = json::Document::parse(content);
  // Do not show the parser's message, because it may quote a part of the secret.
  if (!document || !document->root().is(json::Kind::kObject))
    field.problem(path + " does not contain a JSON object" +
                  (document ? "" : "; the error is not shown, because the file is secret"));
  else
    out = json::to_text(document->root());
}

void read_user_keys(const json::Field& field, const Context& context, std::vector<UserKey>& out) {
  field.each(16, [&](const json::Field& element) {
    UserKey& key = out.emplace_back();
    if (!read_secret(element, context, key.file, key.private_key)) return;
    const auto read = crypto::parse_private_key(key.private_key);
    if (read)
      key.public_key = read->line();
    else
      element.problem(key.file + ": " + read.error().message);
  });
}

void read_tags(const json::Field& field, model::Tags& out) {
  const auto is_tag = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-.:/").find(c) != std::string_view::npos;
  };
  field.members(30, [&](std::string_view name, const json::Field& value) {
    if (name.empty() || name.size() > 127 || !std::ranges::all_of(name, is_tag))
      value.problem("the name of a tag must have 1 to 127 characters of a-z A-Z 0-9 _ - . : /");
    if (name.starts_with("hostler-"))
      value.problem("names of tags that begin with hostler- are reserved");
    value.text(out[std::string(name)], {.bytes_max = 255, .one_line = true});
  });
}

void read_policy(json::Object& o, model::SetPolicy& out) {
  o.need("name").name(out.name);
  read_ceilings(o.may("ceilings"), out.ceilings);
  read_tags(o.may("tags"), out.tags);
  o.may("region").text(out.region, {.bytes_max = 63, .one_line = true});
  o.may("remote_user").text(out.remote_user, {.bytes_max = 32, .bytes_min = 1, .one_line = true});
  o.may("list_interval").duration(out.list_interval, 100ms, 1h);
  o.may("price_interval").duration(out.price_interval, 1s, 24h);
  o.may("create_timeout").duration(out.create_timeout, 1s, 1h);
  o.may("destroy_timeout").duration(out.destroy_timeout, 1s, 1h);
  o.may("list_timeout").duration(out.list_timeout, 1s, 1h);
  o.may("power_timeout").duration(out.power_timeout, 1s, 1h);
  o.may("mass_unreachable_hold").duration(out.mass_unreachable_hold, 1min, 168h);
}

void read_set(json::Object& o, const Context& context, Isolation isolation, Set& out) {
  o.need("driver").name(out.driver);
  out.isolation = isolation;
  read_isolation(o.may("isolation"), out.isolation);
  o.may("sandbox").word(out.sandbox, kSandboxes);
  read_driver_config(o.may("config"), context, out.config_json);
  read_credentials(o.may("credentials_file"), context, out.credentials_json);
  read_user_keys(o.may("user_key_files"), context, out.user_keys);
  o.may("escalate").word(out.escalate, kEscalations);
}

}  // namespace

void read_isolation(const json::Field& field, Isolation& out) { field.word(out, kIsolations); }

void read_sets(const json::Field& field, const Context& context, Isolation isolation,
               std::vector<Set>& sets, std::vector<model::SetPolicy>& policies) {
  std::set<std::string> names;
  field.each(1000, [&](const json::Field& element) {
    element.object([&](json::Object& o) {
      read_policy(o, policies.emplace_back());
      claim_name(o.may("name"), policies.back().name, names);
      read_set(o, context, isolation, sets.emplace_back());
      sets.back().name = policies.back().name;
    });
  });
}

}  // namespace hostler::config
