#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/agent/client.h"

/// No-op jobs through real agents over socketpairs, beside the bare posix_spawn rate of the same
/// program in the same run. usage: agent_bench [hosts [jobs [ram_max]]], ram_max > 0 for jobs in
/// cgroups.
namespace {

using namespace hostler;
using Clock = std::chrono::steady_clock;

constexpr int kInFlight = 8;  ///< Per host.

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Two at a time, for two cores.
double spawn_rate(const char* program, int count) {
  const auto begin = Clock::now();
  char* argv[] = {const_cast<char*>(program), nullptr};
  char* envp[] = {nullptr};
  int running = 0;
  for (int i = 0; i < count; ++i) {
    pid_t pid = 0;
    if (posix_spawn(&pid, program, nullptr, nullptr, argv, envp) != 0) return 0;
    if (++running == 2) waitpid(-1, nullptr, 0), --running;
  }
  for (; running > 0; --running) waitpid(-1, nullptr, 0);
  return count / seconds_since(begin);
}

struct Host {
  Host(const std::filesystem::path& folder) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    const std::string dir = folder.string();
    if (fork() == 0) {
      dup2(ends[1], 0);
      dup2(ends[1], 1);
      execl(HOSTLER_AGENT_PROGRAM, "hostler-agent", "connect", "--dir", dir.c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    fd = ends[0];
    fcntl(fd, F_SETFL, O_NONBLOCK);
  }

  bool read_some() {
    static char buffer[65536];
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n <= 0) return n < 0 && errno == EAGAIN;
    if (!client.receive({buffer, static_cast<std::size_t>(n)})) return false;
    // Ready waits for the cards, which are told after the settings.
    if (client.hello() != nullptr && !std::exchange(is_configured, true))
      return client.configure(agent::Configure()).has_value();
    return true;
  }
  void write_some() {
    const auto out = client.pending();
    if (out.empty()) return;
    const ssize_t n = send(fd, out.data(), out.size(), MSG_NOSIGNAL);
    if (n > 0) client.sent(static_cast<std::size_t>(n));
  }

  agent::Client client;
  int fd = -1;
  std::string boot_id;
  std::uint64_t sequence = 0;
  int in_flight = 0;
  bool is_configured = false;
};

class Bench {
 public:
  Bench(const std::filesystem::path& folder, int hosts, std::uint64_t ram_max) : ram_max_(ram_max) {
    for (int i = 0; i < hosts; ++i)
      hosts_.push_back(std::make_unique<Host>(folder / std::to_string(i)));
    bool all = false;
    while (!all) {
      turn([](Host&, const agent::Event&) {});
      all = true;
      for (const auto& host : hosts_) all = all && !host->boot_id.empty();
    }
  }
  ~Bench() {
    for (const auto& host : hosts_) {
      (void)host->client.quit();
      host->write_some();
      close(host->fd);
    }
    while (waitpid(-1, nullptr, 0) > 0) {
    }
  }

  /// Jobs ended in a second.
  double rate(const char* program, int jobs) {
    const auto begin = Clock::now();
    int sent = 0;
    int ended = 0;
    const auto fill = [&](Host& host) {
      while (host.in_flight < kInFlight && sent < jobs) {
        agent::Start start;
        start.attempt = {model::WorkId{++job_}, 1};
        start.boot_id = host.boot_id;
        start.sequence = ++host.sequence;
        start.command = {program};
        start.ram_max = ram_max_;
        if (!host.client.start(start)) std::abort();
        ++host.in_flight;
        ++sent;
      }
    };
    for (const auto& host : hosts_) fill(*host);
    while (ended < jobs)
      turn([&](Host& host, const agent::Event& event) {
        const auto* exit = std::get_if<agent::Exit>(&event);
        if (exit == nullptr) return;
        if (exit->end.exit_code != 0 || exit->end.reason != model::EndReason::kExit) {
          std::fprintf(stderr, "a job failed: %s\n", exit->end.text.c_str());
          std::abort();
        }
        ++ended;
        --host.in_flight;
        (void)host.client.ack({exit->attempt});
        fill(host);
      });
    return jobs / seconds_since(begin);
  }

 private:
  template <class OnEvent>
  void turn(OnEvent on_event) {
    std::vector<pollfd> polls;
    for (const auto& host : hosts_) {
      host->write_some();
      polls.push_back(
          {host->fd, static_cast<short>(host->client.pending().empty() ? POLLIN : POLLIN | POLLOUT),
           0});
    }
    poll(polls.data(), polls.size(), -1);
    for (std::size_t i = 0; i < polls.size(); ++i) {
      if ((polls[i].revents & ~POLLOUT) == 0) continue;
      Host& host = *hosts_[i];
      if (!host.read_some()) std::fprintf(stderr, "an agent has gone\n"), std::abort();
      while (auto event = host.client.next()) {
        if (const auto* ready = std::get_if<agent::Ready>(&*event))
          host.boot_id = ready->hello.boot_id;
        on_event(host, *event);
      }
    }
  }

  std::vector<std::unique_ptr<Host>> hosts_;
  std::uint64_t job_ = 0;
  std::uint64_t ram_max_;
};

}  // namespace

int main(int argc, char** argv) {
  const int hosts = argc > 1 ? std::atoi(argv[1]) : 1;
  const int jobs = argc > 2 ? std::atoi(argv[2]) : 5000;
  const std::uint64_t ram_max = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
  signal(SIGPIPE, SIG_IGN);
  char name[] = "/tmp/hostler-agent-bench-XXXXXX";
  const std::filesystem::path folder = mkdtemp(name);
  {
    Bench bench(folder, hosts, ram_max);
    std::printf("%d hosts, %d jobs\n%-28s %12s %12s %8s\n", hosts, jobs, "program", "posix_spawn/s",
                "agent/s", "ratio");
    for (const char* program : {HOSTLER_NOOP_PROGRAM, "/bin/true"}) {
      const double bare = spawn_rate(program, jobs);
      const double ours = bench.rate(program, jobs);
      const char* slash = std::strrchr(program, '/');
      std::printf("%-28s %12.0f %12.0f %7.0f%%\n", slash + 1, bare, ours, 100 * ours / bare);
    }
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}
