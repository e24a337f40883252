#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config/config.h"
#include "core/config/load.h"
#include "core/json/reader.h"

/// The readers of the file's parts, one file each; private to core/config.
namespace hostler::config {

inline constexpr std::size_t kSecretFileMax = std::size_t{64} * 1024;
inline constexpr std::int32_t kInstancesMax = 1'000'000;
inline constexpr std::int64_t kPriceMax = 1'000'000'000'000;  ///< A million an hour.
inline constexpr Duration kLongest = 24h * 3650;

struct Context {
  const LoadOptions& options;
  std::filesystem::path folder;     ///< Relative paths begin here.
  std::filesystem::path state_dir;  ///< Final.
};

/// `${state_dir}` and `${config_dir}` replaced.
std::string expand(const Context& context, std::string text);
/// A path, absolute in the end.
bool read_path(const json::Field& field, const Context& context, std::string& out);
/// A path and the content of the file there, which no other user may read. Problems never quote it.
bool read_secret(const json::Field& field, const Context& context, std::string& path,
                 std::string& content);

void read_access(json::Object& o, const Context& context, Access& out);
void read_ceilings(const json::Field& field, model::Ceilings& out);
void read_types(const json::Field& field, std::vector<model::InstanceType>& out);
void read_sets(const json::Field& field, const Context& context, Isolation isolation,
               std::vector<Set>& sets, std::vector<model::SetPolicy>& policies);
/// `site` has types and sets already: pools are checked against them.
void read_pools(const json::Field& field, model::SitePolicy& site);
void read_agent(json::Object& o, Agent& out);
void read_limits(json::Object& o, Limits& out);
bool read_isolation(const json::Field& field, Isolation& out);

/// Adds a problem if `name` is in `taken` already, else puts it there.
void claim_name(const json::Field& field, const std::string& name, std::set<std::string>& taken);

std::vector<std::string> warnings_of(const Config& config);

}  // namespace hostler::config
