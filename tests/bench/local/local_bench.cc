// local_bench [INSTANCES]: boots so many local instances at once (200), lists and destroys them,
// and prints how long each took. Run by hand.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "fd.h"
#include "tests/integration/local/driver_host.h"
#include "tests/integration/local/scratch.h"

namespace hostler::local::test {
namespace {

constexpr std::size_t kCallers = 16;  // the driver's max_concurrency

class Stopwatch {
 public:
  void print(const char* what, std::size_t count) {
    using namespace std::chrono;
    const double seconds = duration<double>(steady_clock::now() - start_).count();
    std::printf("%-28s %6.2f s %8.2f ms each\n", what, seconds,
                1000 * seconds / static_cast<double>(count));
    start_ = steady_clock::now();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

bool answers(const Seen& instance) {
  const driver::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<std::uint16_t>(instance.port));
  ::inet_pton(AF_INET, instance.address.c_str(), &name.sin_addr);
  char banner[4];
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 &&
         ::recv(fd.get(), banner, sizeof banner, MSG_WAITALL) == 4;
}

template <class Work>
void for_all(std::size_t count, Work work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> callers;
  for (std::size_t caller = 0; caller < kCallers; ++caller)
    callers.emplace_back([&] {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    });
  for (std::thread& caller : callers) caller.join();
}

int bench(std::size_t count) {
  const Scratch scratch;
  DriverHost set(
      "bench", R"({"root": ")" + scratch.root() + R"(", "port": 22022, "instances_max": 100000})");
  std::vector<Seen> instances(count);
  std::atomic<std::size_t> failed{0};
  Stopwatch watch;
  for_all(count, [&](std::size_t i) {
    Create create;
    create.key = "bench-" + std::to_string(i);
    const Outcome made = set.create(create);
    if (made.status == HOSTLER_OK && !made.instances.empty()) {
      instances[i] = made.instances.front();
    } else {
      ++failed;
      std::printf("create: %s\n", made.message.c_str());
    }
  });
  watch.print("created", count);
  for (const Seen& instance : instances)
    if (!instance.id.empty() && !eventually([&] { return answers(instance); })) ++failed;
  watch.print("all show their SSH banner", count);
  const std::size_t listed = set.list().instances.size();
  watch.print("listed", count);
  for_all(count, [&](std::size_t i) { set.destroy(instances[i].id); });
  watch.print("destroy accepted", count);
  if (!eventually([&] { return set.list().instances.empty(); })) ++failed;
  watch.print("all gone", count);
  const std::size_t left = processes_of(scratch.root()).size();
  std::printf("%zu listed, %zu failed, %zu processes left\n", listed, failed.load(), left);
  return failed == 0 && listed == count && left == 0 ? 0 : 1;
}

}  // namespace
}  // namespace hostler::local::test

int main(int argc, char** argv) {
  const long count = argc > 1 ? std::atol(argv[1]) : 200;
  return hostler::local::test::bench(static_cast<std::size_t>(count > 0 ? count : 1));
}
