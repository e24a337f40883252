#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/base/trusted_file.h"
#include "core/config/credentials.h"
#include "core/config/readers.h"
#include "core/json/writer.h"

namespace hostler::config {
namespace {

constexpr std::size_t kDriverConfigMax = std::size_t{256} * 1024;
constexpr std::array kSandboxes{json::Word<model::Sandbox>{"full", model::Sandbox::kFull},
                                json::Word<model::Sandbox>{"files", model::Sandbox::kFiles},
                                json::Word<model::Sandbox>{"none", model::Sandbox::kNone}};
constexpr std::array kAddresses{
    json::Word<model::AddressChoice>{"any", model::AddressChoice::kAny},
    json::Word<model::AddressChoice>{"private", model::AddressChoice::kPrivate},
    json::Word<model::AddressChoice>{"public", model::AddressChoice::kPublic}};
constexpr std::array kLeftovers{
    json::Word<model::LeftoverRule>{"destroy", model::LeftoverRule::kDestroy},
    json::Word<model::LeftoverRule>{"report", model::LeftoverRule::kReport},
    json::Word<model::LeftoverRule>{"off", model::LeftoverRule::kOff}};
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

/// Where the credentials come from, and what the source gives now, unless it is a command.
void read_credentials(json::Object& o, const Context& context, CredentialSource& source,
                      std::string& credentials) {
  const json::Field file = o.may("credentials_file"), variable = o.may("credentials_environment"),
                    command = o.may("credentials_command");
  if (file.present() + variable.present() + command.present() > 1)
    (command.present() ? command : variable)
        .problem(
            "a set has one of credentials_file, credentials_environment and "
            "credentials_command");
  read_path(file, context, source.file);
  if (variable.text(source.environment, {.bytes_max = 255}) && !is_identifier(source.environment))
    variable.problem("it must be the name of an environment variable");
  read_command(command, &context, source.command);
  source.interval = 5min;
  o.may("credentials_interval").duration(source.interval, 1s, 24h);
  source.timeout = 30s;
  o.may("credentials_timeout").duration(source.timeout, 1s, 10min);
  if (!context.options.read_files) return;
  auto read = config::read_credentials(source, context.options.trusted_only);
  if (read)
    credentials = *std::move(read);
  else
    (file.present() ? file : variable).problem(read.error().message);
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

void read_policy(json::Object& o, const Context& context, const model::SitePolicy& site,
                 model::SetPolicy& out) {
  o.need("name").name(out.name);
  read_ceilings(o.may("ceilings"), out.ceilings);
  read_tags(o.may("tags"), out.tags);
  o.may("region").text(out.region, {.bytes_max = 63, .one_line = true});
  o.may("remote_user").text(out.remote_user, {.bytes_max = 32, .bytes_min = 1, .one_line = true});
  o.may("address").word(out.address, kAddresses);
  read_image(o.may("image"), out.image);
  o.may("images_interval").duration(out.images_interval, 1s, 24h);
  o.may("leftovers").word(out.leftovers, kLeftovers);
  o.may("leftovers_interval").duration(out.leftovers_interval, 1s, 24h);
  o.may("leftovers_after").duration(out.leftovers_after, 10s, 24h * 365);
  o.may("list_interval").duration(out.list_interval, 100ms, 1h);
  o.may("price_interval").duration(out.price_interval, 1s, 24h);
  o.may("offerings_interval").duration(out.offerings_interval, 1s, 24h);
  read_prices(o.may("prices_file"), context, site, out);
  o.may("volume_price").millionths(out.volume_price.value, 0, kPriceMax);
  o.may("create_timeout").duration(out.create_timeout, 1s, 1h);
  o.may("destroy_timeout").duration(out.destroy_timeout, 1s, 1h);
  o.may("list_timeout").duration(out.list_timeout, 1s, 1h);
  o.may("power_timeout").duration(out.power_timeout, 1s, 1h);
  o.may("mass_unreachable_hold").duration(out.mass_unreachable_hold, 1min, 168h);
}

/// Whether one of the folders is the other, or is above it.
bool overlap(const std::filesystem::path& a, const std::filesystem::path& b) {
  const auto [rest_of_a, rest_of_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto is_over = [](auto at, auto end) { return at == end || at->empty(); };
  return is_over(rest_of_a, a.end()) || is_over(rest_of_b, b.end());
}

void read_readable(const json::Field& field, const Context& context,
                   std::vector<std::string>& out) {
  field.each(64, [&](const json::Field& element) {
    std::string path;
    if (!read_path(element, context, path)) return;
    if (overlap(path, context.state_dir))
      element.problem("the state folder " + context.state_dir.string() +
                      " must not be readable for drivers");
    out.push_back(std::move(path));
  });
}

void read_sandbox(const json::Field& field, model::Sandbox min, Set& out) {
  model::Sandbox sandbox{};
  if (!field.word(sandbox, kSandboxes)) return;
  out.sandbox = sandbox;
  if (sandbox < min) field.problem("sandbox_min is \"" + std::string(to_string(min)) + "\"");
}

/// `files`: those of the sets before.
void read_record(json::Object& o, const Context& context, std::set<std::string>& files, Set& out) {
  o.may("record_max").size(out.record_max, std::int64_t{64} << 10, std::int64_t{1} << 40);
  const json::Field file = o.may("record");
  std::string path;
  if (!file.text(path, {.bytes_max = 4096, .bytes_min = 1, .one_line = true})) return;
  const auto whole = (context.state_dir / expand(context, path)).lexically_normal();
  if (!whole.has_filename()) {
    file.problem("it must be the path of a file");
    return;
  }
  out.record = whole.string();
  if (!files.insert(out.record).second)
    file.problem("another set records in " + out.record + ", allowed: a file for each set");
  std::error_code ignored;  // The daemon makes the state folder.
  if (!context.options.read_files || !std::filesystem::exists(whole.parent_path(), ignored)) return;
  const auto folder = open_trusted_folder(whole.parent_path());
  if (!folder) file.problem(folder.error().message);
}

void read_set(json::Object& o, const Context& context, model::Sandbox sandbox_min, Set& out) {
  o.need("driver").name(out.driver);
  read_isolation(o.may("isolation"), context);
  read_sandbox(o.may("sandbox"), sandbox_min, out);
  read_readable(o.may("readable"), context, out.readable);
  read_driver_config(o.may("config"), context, out.config_json);
  read_credentials(o, context, out.credentials, out.credentials_json);
  read_user_keys(o.may("user_key_files"), context, out.user_keys);
  o.may("escalate").word(out.escalate, kEscalations);
  read_proxy(o.may("proxy"), context, out.proxy);
}

}  // namespace

void read_isolation(const json::Field& field, const Context& context) {
  if (!field.present()) return;
  const json::Value& value = *field.value();
  if (value.is(json::Kind::kString) && value.text() == "child")
    context.warnings.push_back(value.path() +
                               ": each driver runs in a process of its own, whatever this says; "
                               "remove the key, as the next release does not know it");
  else
    field.refuse(
        "no value, as hostlerd runs each driver in a process of its own: remove the key. A driver "
        "that needs more than its sandbox allows gets \"sandbox\": \"files\" or \"none\" in its "
        "set");
}

void read_sandbox_min(const json::Field& field, model::Sandbox& out) {
  field.word(out, kSandboxes);
}

void read_sets(const json::Field& field, const Context& context, model::Sandbox sandbox_min,
               std::vector<Set>& sets, model::SitePolicy& site) {
  std::set<std::string> names, recordings;
  field.each(1000, [&](const json::Field& element) {
    element.object([&](json::Object& o) {
      model::SetPolicy policy;
      read_policy(o, context, site, policy);
      claim_name(o.may("name"), policy.name, names);
      read_set(o, context, sandbox_min, sets.emplace_back());
      sets.back().name = policy.name;
      read_record(o, context, recordings, sets.back());
      if (const auto& proxy = sets.back().proxy) policy.jump_host = proxy->name();
      site.sets.push_back(std::move(policy));
    });
  });
}

}  // namespace hostler::config
