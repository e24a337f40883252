#include "core/config/load.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/base/trusted_file.h"
#include "core/config/readers.h"
#include "core/json/document.h"

namespace hostler::config {
namespace {

constexpr std::size_t kConfigMax = std::size_t{4} << 20U;
constexpr std::array kLevels{
    json::Word<std::string_view>{"debug", "debug"}, json::Word<std::string_view>{"info", "info"},
    json::Word<std::string_view>{"warn", "warn"}, json::Word<std::string_view>{"error", "error"}};

void read_state_dir(json::Object& o, Context& context) {
  const LoadOptions& options = context.options;
  context.state_dir = default_state_dir(options.surroundings);
  std::string configured;
  if (read_path(o.may("state_dir"), context, configured)) context.state_dir = configured;
  if (options.state_dir) context.state_dir = std::filesystem::absolute(*options.state_dir);
}

/// True if the connection string contains a password. The store checks this, too; this check also
/// works without a database, for `hostler config check`.
bool has_password(std::string_view conninfo) {
  constexpr std::string_view kKey = "password";  // and sslpassword
  for (auto at = conninfo.find(kKey); at != conninfo.npos; at = conninfo.find(kKey, at + 1)) {
    const auto after = conninfo.find_first_not_of(' ', at + kKey.size());
    if (after != conninfo.npos && conninfo[after] == '=') return true;
  }
  const auto scheme = conninfo.find("://");
  if (scheme == std::string_view::npos) return false;
  const auto authority = conninfo.substr(scheme + 3, conninfo.find('/', scheme + 3) - scheme - 3);
  return authority.substr(0, authority.rfind('@') + 1).find(':') != std::string_view::npos;
}

void read_store(json::Object& o, Config& out) {
  const json::Field postgres = o.may("postgres");
  postgres.text(out.postgres, {.bytes_max = 1024, .one_line = true, .secret = true});
  if (has_password(out.postgres))
    postgres.problem(
        "it contains a password; put the password into a file of mode 0600 and name that file with "
        "passfile=");
}

void read_site(json::Object& o, model::SitePolicy& out) {
  read_ceilings(o.may("ceilings"), out.ceilings);
  o.may("scheduler").object([&](json::Object& scheduler) {
    scheduler.may("plan_interval").duration(out.plan_interval, 1ms, 1min);
    scheduler.may("abandoned_for").duration(out.abandoned_for, 1min, 24h * 30);
    scheduler.may("fair_share").object([&](json::Object& fair_share) {
      fair_share.may("half_life").duration(out.half_life, 1min, 24h * 365);
    });
  });
}

void read_all(json::Object& o, Context& context, Config& out) {
  read_state_dir(o, context);
  out.state_dir = context.state_dir;
  o.may("store").object([&](json::Object& store) { read_store(store, out); });
  std::int64_t reserve = 0;
  if (o.may("disk_reserve").size(reserve, 0, std::int64_t{1} << 40))
    out.disk_reserve = static_cast<std::uint64_t>(reserve);
  out.access.socket_path = default_socket(context.options.surroundings, context.state_dir);
  o.may("access").object([&](json::Object& access) { read_access(access, context, out.access); });
  o.may("driver_path").each(32, [&](const json::Field& element) {
    std::string folder;
    if (read_path(element, context, folder)) out.driver_path.emplace_back(folder);
  });
  read_trusted_drivers(o, out.trusted_drivers);
  read_isolation(o.may("isolation"), context);
  read_sandbox_min(o.may("sandbox_min"), out.sandbox_min);

  read_currency(o, out.site);
  read_types(o.may("types"), out.site.types);
  read_sets(o.need("sets"), context, out.sandbox_min, out.sets, out.site);
  o.may("agent").object([&](json::Object& agent) { read_agent(agent, out.agent); });
  read_pools(o.need("pools"), context, out);
  check_token_pools(o, out);
  read_site(o, out.site);
  read_metrics(o.may("metrics"), context, out);
  check_expressions(o, context, out);
  read_quotas(o, out.site.quotas);
  o.may("limits").object([&](json::Object& limits) { read_limits(limits, out.limits); });
  o.may("ledger_keep").object([&](json::Object& keep) {
    keep.may("age").duration(out.ledger_keep.age, 1h, kLongest);
    keep.may("size").size(out.ledger_keep.bytes, std::int64_t{1} << 20, std::int64_t{1} << 44);
  });
  o.may("log").object([&](json::Object& log) {
    std::string_view level;
    if (log.may("level").word(level, kLevels)) out.log_level = level;
  });
}

Reading failed(Error error) {
  Reading out;
  out.problems.push_back(std::move(error));
  return out;
}

}  // namespace

void claim_name(const json::Field& field, const std::string& name, std::set<std::string>& taken) {
  if (!name.empty() && !taken.insert(name).second)
    field.problem("found \"" + name + "\" a second time, allowed: each name once");
}

Reading read_text(std::string_view text, const std::filesystem::path& folder,
                  const LoadOptions& options) {
  const auto document = json::Document::parse(text, {.bytes_max = kConfigMax, .comments = true});
  if (!document) return failed(document.error());
  Reading out;
  Context context{options, std::filesystem::absolute(folder).lexically_normal(), {}, out.warnings};
  json::Problems problems;
  problems.record_keys();
  json::Field(document->root(), problems).object([&](json::Object& o) {
    read_all(o, context, out.config);
  });
  out.config.text = text;
  out.problems = problems.list();
  out.keys = problems.keys();
  if (problems.ok()) std::ranges::copy(warnings_of(out.config), std::back_inserter(out.warnings));
  return out;
}

Reading read(const std::filesystem::path& file, const LoadOptions& options) {
  const auto text =
      options.trusted_only ? read_trusted_file(file, kConfigMax) : read_file(file, kConfigMax);
  if (!text) return failed(text.error());
  return read_text(*text, std::filesystem::absolute(file).parent_path(), options);
}

Result<Config> load(const std::filesystem::path& file, const LoadOptions& options) {
  Reading reading = read(file, options);
  if (reading.problems.empty()) return std::move(reading.config);
  Error first = std::move(reading.problems.front());
  if (reading.problems.size() > 1)
    first.message += "; and " + std::to_string(reading.problems.size() - 1) +
                     " more; 'hostler config check " + file.string() + "' lists all";
  return tl::unexpected(std::move(first).with_context("config " + file.string()));
}

}  // namespace hostler::config
