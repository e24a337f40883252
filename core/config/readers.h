#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/config.h"
#include "core/config/load.h"
#include "core/json/reader.h"

/// The functions that read the parts of a config file, one source file for each part. Private to
/// core/config.
namespace hostler::config {

inline constexpr std::size_t kSecretFileMax = std::size_t{64} * 1024;
inline constexpr std::size_t kCommandMax = std::size_t{16} * 1024;  ///< The longest shell command.
inline constexpr std::size_t kExpressionMax = std::size_t{8} * 1024;  ///< Bytes of its text.
inline constexpr std::size_t kMetricNameMax = model::kMetricNameMax;
inline constexpr std::int32_t kInstancesMax = 1'000'000;
inline constexpr std::int64_t kPriceMax = model::kPriceMax.value;
inline constexpr std::int64_t kBytesMax = std::int64_t{1} << 50;
inline constexpr Duration kLongest = 24h * 3650;

struct Context {
  const LoadOptions& options;
  std::filesystem::path folder;     ///< Relative paths are relative to this folder.
  std::filesystem::path state_dir;  ///< From --state, the file, or the default.
  std::vector<std::string>& warnings;
};

/// Replaces `${state_dir}` and `${config_dir}` in `text`.
std::string expand(const Context& context, std::string text);
// Each reader adds a problem to the field if its value is not allowed; the bool ones return false
// then.

/// Reads a path and makes it absolute.
bool read_path(const json::Field& field, const Context& context, std::string& out);
/// Reads a path and the file at that path, which must not be readable for other users. Problems
/// never quote the content.
bool read_secret(const json::Field& field, const Context& context, std::string& path,
                 std::string& content);

/// Reads a path and the file at that path, which other users must not be able to change.
bool read_named_file(const json::Field& field, const Context& context, std::size_t bytes_max,
                     std::string& path, std::string& content);
/// Reads an absolute path of a program and its arguments, for a start without a shell. `context`:
/// placeholders are replaced; null: they are not.
bool read_command(const json::Field& field, const Context* context, std::vector<std::string>& out);
/// Letters, digits and _, with no digit in front: a name of a variable, a label, a metric.
bool is_identifier(std::string_view name);
/// "bastion.example", "10.0.0.1:2222", "2001:db8::1" or "[2001:db8::1]:22". Without a port it
/// leaves `port` as it is.
bool parse_address(std::string_view text, std::string& host, std::uint16_t& port);
/// True of the numeric addresses of this machine itself.
bool is_loopback(const std::string& address);
/// A mode in octal digits, as "0644"; nullopt if the text is something else.
std::optional<unsigned> parse_mode(std::string_view text);

void read_access(json::Object& o, const Context& context, Access& out);
/// The pools of tokens with the role `scaler`. Call it when access and pools have been read.
void check_token_pools(json::Object& o, const Config& config);
void read_ceilings(const json::Field& field, model::Ceilings& out);
/// Which drivers the site takes.
void read_trusted_drivers(json::Object& o, model::TrustedDrivers& out);
/// Reads a query for images.
void read_image(const json::Field& field, std::optional<model::ImageQuery>& out);
/// Reads the keys `image` and `image_id`, of which an object has one at most.
void read_image_or_id(json::Object& o, std::optional<model::ImageQuery>& image, std::string& id);
/// The keys of a type and of a pool that say where in the cloud an instance is put.
void read_placement(json::Object& o, model::Placement& out);
void read_types(const json::Field& field, std::vector<model::InstanceType>& out);
/// The properties by which a pool chooses types.
void read_selector(const json::Field& field, model::TypeSelector& out);
/// The keys `currency` and `exchange_rates`. Call it before the sets are read.
void read_currency(json::Object& o, model::SitePolicy& out);
/// The prices in the file that the field names, in the currency of the site.
void read_prices(const json::Field& field, const Context& context, const model::SitePolicy& site,
                 model::SetPolicy& out);
/// The key `isolation`, which says nothing any more. For one release: remove it with that.
void read_isolation(const json::Field& field, const Context& context);
void read_sandbox_min(const json::Field& field, model::Sandbox& out);
void read_user_keys(const json::Field& field, const Context& context, std::vector<UserKey>& out);
void read_proxy(const json::Field& field, const Context& context, std::optional<Proxy>& out);
/// Call it after read_currency().
void read_sets(const json::Field& field, const Context& context, model::Sandbox sandbox_min,
               std::vector<Set>& sets, model::SitePolicy& site);
/// Call it after types, sets and agent have been read into `out`, because pools refer to them.
void read_pools(const json::Field& field, const Context& context, Config& out);
/// How many hosts a pool has, and how its bounds follow their expressions. No text is compiled:
/// check_expressions() does that.
void read_sizes(json::Object& o, model::PoolSizes& out);
void read_scaling(const json::Field& field, model::ScalingPolicy& out);
/// The metrics and their sources. Call it after read_pools().
void read_metrics(const json::Field& field, const Context& context, Config& out);
void read_metric_source(const json::Field& field, const Context& context,
                        const model::SitePolicy& site, model::MetricSource& out);
/// A name of Prometheus' series with or without its {labels}, and nothing else: timestamp() of it
/// says when its samples were taken.
bool is_plain_selector(std::string_view query);
/// Compiles all texts of pools, and checks what they need: metrics, time zones, ceilings, ages.
/// Call it when these have been read into `out`; sets MetricSource::asks_age.
void check_expressions(json::Object& o, const Context& context, Config& out);
/// How a pool lends hosts. Absent: `out` stays as it is.
void read_leases(const json::Field& field, std::optional<model::LeasePolicy>& out);
/// The limits of what an outside scheduler may push. Absent: `out` stays as it is.
void read_pushed(const json::Field& field, std::optional<model::PushedPolicy>& out);
/// Refuses what makes no sense in a pool with `pushed`, and sets the boot_timeout that follows from
/// it. Call it when the other keys have been read into `out`.
void check_pushed(json::Object& pool, model::PoolPolicy& out);
/// `agent_folder`: where hostler keeps its own files on hosts, as configured. Reads the files and
/// the cloud-config that the site puts on the new hosts of a pool.
void read_boot(json::Object& o, const Context& context, const std::string& agent_folder,
               model::PoolPolicy& out);
/// Sets the defaults of quotas too.
void read_quotas(json::Object& o, model::Quotas& out);
void read_agent(json::Object& o, Agent& out);
void read_limits(json::Object& o, Limits& out);

/// Adds a problem if `name` is already in `taken`; otherwise adds it to `taken`.
void claim_name(const json::Field& field, const std::string& name, std::set<std::string>& taken);

}  // namespace hostler::config
