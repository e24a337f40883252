// hostler-driver-host: the process that runs the driver of one instance set for hostlerd, which
// starts it and talks to it over sockets. Nobody else starts it.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/units.h"
#include "core/driver_host/child/confinement.h"
#include "core/driver_host/child/crash_report.h"
#include "core/driver_host/child/outlet.h"
#include "core/driver_host/child/process_watch.h"
#include "core/driver_host/child/server.h"
#include "core/driver_host/wire/child_arguments.h"
#include "core/driver_host/wire/limits.h"
#include "core/driver_host/wire/messages.h"
#include "core/plugin_host/driver_facts.h"
#include "core/plugin_host/host_table.h"
#include "core/plugin_host/offered_files.h"

namespace hostler::driver_host {
namespace {

constexpr std::size_t kWorkersMax = 64;

const Outlet* outlet_of_lines = nullptr;

void send_line(log::Level level, const std::string& /*area*/, const std::string& line) {
  outlet_of_lines->send_frame(FrameType::kLog, 0,
                              to_body(LogLine{static_cast<std::uint32_t>(level), line}));
}

std::string text(const char* s) { return s == nullptr ? std::string() : s; }

std::size_t workers_of(const hostler_driver& driver) {
  if (driver.threading != HOSTLER_THREAD_CONCURRENT) return 1;
  return std::min<std::size_t>(driver.max_concurrency, kWorkersMax);
}

Hello hello_of(const hostler_driver& driver, const Confinement& confinement) {
  Hello hello{.wire_version = kWireVersion,
              .host_version = plugin_host::host_table().version,
              .name = text(driver.name),
              .version = text(driver.version),
              .vendor = text(driver.vendor),
              .license = text(driver.license),
              .runtime = text(driver.runtime),
              .config_schema_json = text(driver.config_schema_json),
              .threading = driver.threading,
              .max_concurrency = static_cast<std::uint32_t>(workers_of(driver)),
              .min_host_minor = driver.min_host_minor,
              .abi_minor = driver.abi_minor,
              .extensions = {},
              .in_force = {std::string(to_string(confinement.level)), confinement.memory_limit,
                           confinement.cpu_limit}};
  for (const char* id : plugin_host::kKnownExtensions)
    if (driver.get_extension(id) != nullptr) hello.extensions.emplace_back(id);
  return hello;
}

/// Dies with hostlerd, and of nothing that is meant for hostlerd.
void follow_parent(int parent) {
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2})
    (void)::signal(signal, SIG_IGN);
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
}

/// Says what the admin may not expect of the sandbox.
void report(const Confinement& confinement) {
  if (!confinement.why_less.empty())
    send_line(log::Level::kWarn, {},
              "its sandbox is " + std::string(to_string(confinement.level)) + ": " +
                  confinement.why_less);
  for (const std::string& path : confinement.files.missing())
    send_line(log::Level::kWarn, {}, "readable: there is no " + path);
}

plugin_host::LibraryFile inherited_files(const ChildArguments& arguments) {
  plugin_host::LibraryFile out{arguments.library, UniqueFd(kLibraryFd)};
  for (std::size_t i = 0; i < arguments.own_files.size(); ++i)
    out.own_files.push_back({arguments.own_files[i], UniqueFd(kOwnFilesFd + static_cast<int>(i))});
  out.is_listed_only = arguments.is_listed_only;
  return out;
}

/// Why this process has to end; empty: it has not.
std::string beyond_limits(const std::optional<ProcessWatch>& watch) {
  if (!watch) return {};
  const auto bytes = watch->shared_bytes(), threads = watch->threads();
  if (!bytes || !threads) return "R44: the driver has closed descriptors that are not its own";
  if (*threads > kThreadsMax)
    return "limit: it has " + std::to_string(*threads) + " threads, more than " +
           std::to_string(kThreadsMax);
  if (*bytes <= kMemoryMax) return {};
  return "limit: it shares " + format_size(static_cast<std::int64_t>(*bytes)) +
         " of memory, more than " + format_size(kMemoryMax);
}

int serve(const ChildArguments& arguments) {
  follow_parent(arguments.parent);
  const int last_fd = kOwnFilesFd + static_cast<int>(arguments.own_files.size()) - 1;
  for (int fd = kCallsFd; fd <= last_fd; ++fd)
    (void)::fcntl(fd, F_SETFD, FD_CLOEXEC);  // not for programs that the driver starts
  const Outlet outlet{UniqueFd(kCallsFd)};
  UniqueFd control(kControlFd);
  outlet_of_lines = &outlet;
  plugin_host::set_line_sink(&send_line);
  report_crashes_to(outlet.socket().get());
  auto file = inherited_files(arguments);
  const auto confinement = confine(arguments.sandbox, file, arguments.cgroups);
  if (!confinement) {
    outlet.send_frame(FrameType::kFailed, 0, confinement.error().message);
    return 1;
  }
  report(*confinement);
  std::optional<ProcessWatch> watch;
  if (confinement->memory_limit == std::string_view("process")) watch.emplace();
  const auto offered = plugin_host::offer_files(file);
  auto library = offered ? plugin_host::DriverLibrary::load_open(std::move(file), arguments.library)
                         : tl::unexpected(offered.error());
  if (!library) {
    outlet.send_frame(FrameType::kFailed, 0, library.error().message);
    return 1;
  }
  try {
    outlet.send_frame(FrameType::kHello, 0, to_body(hello_of((*library)->table(), *confinement)));
  } catch (...) {
    outlet.send_frame(FrameType::kFailed, 0, "R45: an exception left get_extension");
    return 1;
  }
  const std::size_t workers = workers_of((*library)->table());
  auto connection = std::make_shared<plugin_host::Connection>(*std::move(library));
  Server server(
      std::move(connection), outlet, std::move(control), workers,
      [&confinement] { return confinement->files.is_outdated(); },
      [&watch] { return beyond_limits(watch); });
  server.run();
  return 0;
}

}  // namespace
}  // namespace hostler::driver_host

int main(int argc, char** argv) {
  using namespace hostler::driver_host;
  const auto arguments = read_child_arguments({argv, argv + argc});
  if (!arguments) {
    std::fputs("hostler-driver-host: is started by hostlerd, not by hand\n", stderr);
    return 2;
  }
  // Without the destructors of the driver's library, which may still have threads.
  ::_exit(serve(*arguments));
}
