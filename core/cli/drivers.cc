#include <algorithm>
#include <cstdio>
#include <utility>

#include "core/base/join.h"
#include "core/cli/commands.h"
#include "core/cli/driver_site.h"
#include "core/cli/print.h"
#include "core/cli/program.h"
#include "core/cli/table.h"
#include "core/config/load.h"
#include "core/driver_host/parent/describe.h"
#include "core/json/document.h"
#include "core/json/writer.h"
#include "core/plugin_host/driver_library.h"
#include "core/plugin_host/signature_file.h"

/// Commands for drivers. They need no daemon, and run no driver's code but for its manifest.
namespace hostler::cli {

namespace {

namespace fs = std::filesystem;

Result<DriverSite> site_for(const DriverOptions& options) {
  config::Config config;
  if (!options.config.empty()) {
    config::LoadOptions load;
    load.trusted_only = false;  // It decides nothing here.
    config = HOSTLER_TRY(config::load(options.config, load));
  }
  for (const auto& folder : options.folders) config.driver_path.push_back(fs::absolute(folder));
  return site_of(config);
}

/// Why the driver cannot be used; empty: it can.
std::string problem_of(const plugin_host::Discovery& found, const plugin_host::Manifest& driver,
                       const DriverSite& site) {
  auto usable = found.find(driver.name).map([](const auto&) {});
  if (usable) usable = check_driver(driver, site);
  return usable ? std::string() : usable.error().message;
}

void write_tried(json::Writer& w, const plugin_host::Discovery& found) {
  w.key("tried").begin_array();
  for (const auto& one : found.tried)
    w.begin_object().member("path", one.path.string()).member("outcome", one.outcome).end_object();
  w.end_array();
}

std::string list_as_json(const plugin_host::Discovery& found,
                         const std::vector<std::string>& problems) {
  std::string out;
  json::Writer w(out);
  w.begin_object().key("drivers").begin_array();
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const auto& driver = found.drivers[i];
    w.begin_object().member("name", driver.name).member("version", driver.version);
    w.member("library", driver.resolved().string());
    if (!driver.signed_by.empty()) w.member("signed_by", driver.signed_by);
    if (!problems[i].empty()) w.member("problem", problems[i]);
    w.end_object();
  }
  w.end_array();
  write_tried(w, found);
  w.end_object();
  return out;
}

/// A driver by its name, or a manifest by its path.
Result<plugin_host::Manifest> named(const std::string& name, const DriverSite& site) {
  if (name.find('/') != name.npos || name.ends_with(".json"))
    return plugin_host::read_manifest(fs::absolute(name), site.rules);
  return find_drivers(site).find(name);
}

/// The settings that the driver's schema names.
std::vector<std::string> settings_of(const plugin_host::Manifest& driver) {
  std::vector<std::string> out;
  const auto schema = json::Document::parse(driver.config_schema_json);
  if (!schema) return out;
  for (const json::Value setting : schema->root().at("properties").children())
    out.emplace_back(setting.key());
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  return words.empty() ? "none" : join(words, ", ");
}

std::vector<std::string> names_of(const std::vector<plugin_host::NamedFile>& files) {
  std::vector<std::string> out;
  for (const auto& file : files) out.push_back(file.name);
  return out;
}

std::string signature_of(const plugin_host::Manifest& driver, const DriverSite& site) {
  if (!driver.signed_by.empty()) return "by " + driver.signed_by;
  return "not looked at: driver_trust is " + std::string(to_string(site.rules.trusted.trust));
}

void print_info(const plugin_host::Manifest& m, const DriverSite& site,
                const std::string& problem) {
  const std::vector<std::pair<const char*, std::string>> rows{
      {"name", m.name},
      {"version", m.version},
      {"vendor", m.vendor},
      {"license", m.license},
      {"runtime", m.runtime},
      {"abi", std::to_string(m.abi_major) + ", draft " + std::to_string(m.abi_draft) +
                  ", host minor at least " + std::to_string(m.min_host_minor)},
      {"manifest", m.file.string()},
      {"library", m.resolved().string()},
      {"sha256", m.sha256},
      {"files", joined(names_of(m.files))},
      {"driver_sha256", m.pinned_by()},
      {"pinned", site.rules.trusted.sha256.contains(m.name) ? "yes, by driver_sha256" : "no"},
      {"signature", signature_of(m, site)},
      {"sandbox", std::string(to_string(m.sandbox))},
      {"extensions", joined(m.extensions)},
      {"settings", joined(settings_of(m))},
      {"unknown keys", joined(m.unknown_keys)},
      {"usable", problem.empty() ? "yes" : "no: " + problem}};
  for (const auto& [key, value] : rows) say(padded(key, 14) + value);
}

std::string info_as_json(const plugin_host::Manifest& m, const DriverSite& site,
                         const std::string& problem) {
  std::string out;
  json::Writer w(out);
  w.begin_object().member("file", m.file.string()).member("library", m.resolved().string());
  w.member("driver_sha256", m.pinned_by());
  w.member("pinned", site.rules.trusted.sha256.contains(m.name));
  if (!m.signed_by.empty()) w.member("signed_by", m.signed_by);
  if (!problem.empty()) w.member("problem", problem);
  w.key("manifest").raw(to_json(m)).end_object();
  return out;
}

/// Who names the folder of a path that was tried.
std::string named_by(const fs::path& tried, const DriverSite& site) {
  for (const auto& folder : site.folders)
    if (tried == folder.path || tried.parent_path() == folder.path) return folder.named_by;
  return {};
}

/// Of the drivers of this name: which is used, or why none is.
std::string verdict(const Result<plugin_host::Manifest>& driver, const std::string& problem,
                    const std::string& name) {
  if (!driver)
    return name + " cannot be used: " +
           (driver.error().code == Errc::kNotFound ? "no manifest that is taken has this name"
                                                   : driver.error().message);
  if (!problem.empty()) return name + " cannot be used: " + problem;
  return name + " is used: " + driver->version + " of " + driver->file.string();
}

}  // namespace

int driver_list(const DriverOptions& options) {
  const auto site = site_for(options);
  if (!site) return complain(site.error());
  const auto found = find_drivers(*site);
  std::vector<std::string> problems;
  for (const auto& driver : found.drivers) problems.push_back(problem_of(found, driver, *site));
  if (options.json) {
    std::puts(list_as_json(found, problems).c_str());
  } else {
    std::vector<std::vector<std::string>> rows;
    for (const auto& one : found.tried) rows.push_back({one.path.string(), one.outcome});
    for (std::size_t i = 0; i < problems.size(); ++i)
      if (!problems[i].empty())
        rows.push_back({found.drivers[i].resolved().string(), "cannot be used: " + problems[i]});
    std::fputs(format_table({"PATH", "OUTCOME"}, rows).c_str(), stdout);
  }
  const bool all_good = !problems.empty() && std::ranges::all_of(problems, &std::string::empty);
  return all_good ? exit_code::kOk : exit_code::kFailed;
}

int driver_info(const DriverOptions& options) {
  const auto site = site_for(options);
  if (!site) return complain(site.error());
  const auto driver = named(options.name, *site);
  if (!driver) return complain(driver.error());
  const auto usable = check_driver(*driver, *site);
  const std::string problem = usable ? std::string() : usable.error().message;
  if (options.json)
    std::puts(info_as_json(*driver, *site, problem).c_str());
  else
    print_info(*driver, *site, problem);
  return problem.empty() ? exit_code::kOk : exit_code::kFailed;
}

int driver_explain(const DriverOptions& options) {
  const auto site = site_for(options);
  if (!site) return complain(site.error());
  const auto found = find_drivers(*site);
  const auto driver = found.find(options.name);
  const std::string problem = driver ? problem_of(found, *driver, *site) : std::string();
  const std::string end = verdict(driver, problem, options.name);
  const bool is_used = driver && problem.empty();
  if (options.json) {
    std::string out;
    json::Writer w(out);
    w.begin_object().member("name", options.name).member("used", is_used).member("verdict", end);
    w.member("driver_trust", to_string(site->rules.trusted.trust));
    write_tried(w, found);
    w.end_object();
    std::puts(out.c_str());
  } else {
    say("driver_trust: " + std::string(to_string(site->rules.trusted.trust)));
    std::vector<std::vector<std::string>> rows;
    for (const auto& one : found.tried)
      rows.push_back({one.path.string(), named_by(one.path, *site), one.outcome});
    std::fputs(format_table({"PATH", "NAMED BY", "OUTCOME"}, rows).c_str(), stdout);
    say(end);
  }
  return is_used ? exit_code::kOk : exit_code::kFailed;
}

int driver_sign(const std::string& manifest, const std::string& key) {
  const auto public_key = plugin_host::sign_manifest(manifest, key);
  if (!public_key) return complain(public_key.error());
  say("wrote " + plugin_host::signature_path(manifest).string());
  say("A site takes drivers of this key with these settings; choose the name of the key:");
  say(R"("driver_trust": "signed", "driver_keys": {"NAME": ")" + *public_key + "\"}");
  return exit_code::kOk;
}

int driver_manifest(const std::string& library, const std::string& sandbox,
                    const std::vector<std::string>& files) {
  auto manifest = driver_host::describe_library(driver_host::find_program(program_folder()),
                                                library, {files.begin(), files.end()});
  if (!manifest) return complain(manifest.error());
  if (const auto wanted = model::parse_sandbox(sandbox)) manifest->sandbox = *wanted;
  std::fputs(to_json(*manifest).c_str(), stdout);
  return exit_code::kOk;
}

}  // namespace hostler::cli
