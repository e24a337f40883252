#include "core/daemon/descriptors.h"

#include <sys/resource.h>

#include <algorithm>
#include <string>

#include "core/api/connections.h"
#include "core/config/load.h"
#include "core/log/log.h"
#include "core/plugin_host/library_file.h"
#include "core/store/store.h"

namespace hostler::daemon {
namespace {

/// The standard streams, the event loops of `api` and `hosts`, and the sockets that listen, each
/// with a connection that is refused.
constexpr std::uint64_t kOfLoops = 3 + 2 * 3 + 4;
/// The database with its readers, the files that are always open, and those that are open for a
/// moment, also for a backup.
constexpr std::uint64_t kOfStore = 9 + 4 + 7;
/// What threads have open for a moment: two files for each turn of a request, the configuration and
/// what it names, names of hosts that are looked up.
constexpr std::uint64_t kOfMoments = 8 + 4 + 4;
/// The driver in use and its successor, each with its library, one more file and those of its own,
/// and three processes of both; the start of one more, which doubles the driver's own files; the
/// command that prints the credentials; the recording.
constexpr std::uint64_t kOwn = plugin_host::kOwnFilesMax;
constexpr std::uint64_t kOfSet = 2 * (2 + kOwn) + 3UL * 4 + 8 + kOwn + 3 + 1;
/// Sessions at the jump host for tries, and some that hosts share.
constexpr std::uint64_t kOfProxy = 8 + 8;

/// A client may have a file open: one that it fetches or uploads.
constexpr std::uint64_t kOfClient = 2;
/// With fewer, a client that asks again at once would find its own last connection in its place.
constexpr std::uint64_t kConnectionsMin = 4;
constexpr std::uint64_t kHostsMin = 4;
/// Twice: the writer opens the files of the next group before it closes those of the last one.
constexpr std::uint64_t kSpoolMin = 4;

std::uint64_t count_proxies(const config::Config& config) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(config.sets, [](const auto& set) { return set.proxy.has_value(); }));
}

/// Through a jump host, a connection is a pair of sockets.
unsigned of_host(const config::Config& config) { return count_proxies(config) > 0 ? 2 : 1; }

std::uint64_t own(const config::Config& config) {
  return kOfLoops + kOfStore + kOfMoments + kOfSet * config.sets.size() +
         kOfProxy * count_proxies(config);
}

/// Admins and other users of the socket, and TCP.
std::uint64_t kinds_of_clients(const config::Config& config) {
  return config.access.tcp_address.empty() ? 2 : 3;
}

}  // namespace

std::uint64_t raise_descriptor_limit() {
  constexpr rlim_t kEnough = 65'536;  // as in the systemd unit
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  if (limit.rlim_cur >= kEnough) return limit.rlim_cur;
  limit.rlim_cur = std::min(kEnough, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

Result<DescriptorShares> share_descriptors(const config::Config& config, std::uint64_t limit) {
  const std::uint64_t each_client = kOfClient * kinds_of_clients(config);
  const std::uint64_t need =
      own(config) + 2 * kSpoolMin + kConnectionsMin * each_client + kHostsMin;
  if (limit < need)
    return fail(Errc::kInvalidArgument,
                "hostlerd may open " + std::to_string(limit) + " files and needs " +
                    std::to_string(need) + " for " + std::to_string(config.sets.size()) +
                    " instance sets: raise the limit (LimitNOFILE, ulimit -n)");
  DescriptorShares out;
  out.spool_files =
      std::min<std::size_t>(kSpoolMin + (limit - need) / 16, store::OutputLimits{}.open_max);
  const std::uint64_t rest = limit - own(config) - 2 * out.spool_files;
  // Some hosts are connected twice for a moment, when their key is replaced.
  const std::uint64_t wanted =
      static_cast<std::uint64_t>(config::hosts_max_of(config.site)) * of_host(config) * 8 / 7;
  const std::uint64_t for_hosts = std::min(rest / 2, wanted + kHostsMin);
  out.connections = static_cast<unsigned>(std::clamp<std::uint64_t>(
      (rest - for_hosts) / each_client, kConnectionsMin, api::Connections::Bounds{}.all));
  out.hosts = static_cast<unsigned>(
      std::min<std::uint64_t>(rest - each_client * out.connections, INT32_MAX));
  return out;
}

void bound_instances(model::SitePolicy& site, const config::Config& config,
                     const DescriptorShares& shares) {
  const auto most = static_cast<std::int32_t>(std::max(1U, shares.hosts / of_host(config) * 7 / 8));
  std::int64_t wanted = config::hosts_max_of(site);
  std::int32_t& ceiling = site.ceilings.instances_max;
  if (ceiling > 0) wanted = std::min<std::int64_t>(wanted, ceiling);
  if (wanted <= most) return;
  ceiling = most;
  log::warn("daemon", "the pools may have " + std::to_string(wanted) +
                          " hosts, and the limit of open files allows " + std::to_string(most) +
                          ": no more are created; raise the limit (LimitNOFILE, ulimit -n)");
}

}  // namespace hostler::daemon
