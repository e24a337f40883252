#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

/// spawn_rate PROGRAM COUNT PARALLEL: what this machine can do at most. Spawns the program so many
/// times with posix_spawn, so many at once, and prints how many ended in a second.
int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "usage: spawn_rate PROGRAM COUNT PARALLEL\n"), 2;
  const int count = std::atoi(argv[2]);
  const int parallel = std::atoi(argv[3]);
  char* arguments[] = {argv[1], nullptr};
  char* environment[] = {nullptr};
  int running = 0;
  bool good = true;
  const auto reap = [&] {
    int status = 0;
    good = wait(&status) > 0 && status == 0 && good;
    --running;
  };
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) {
    pid_t pid = 0;
    if (posix_spawn(&pid, argv[1], nullptr, nullptr, arguments, environment) != 0)
      return std::perror(argv[1]), 1;
    if (++running >= parallel) reap();
  }
  while (running > 0) reap();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (!good) return std::fprintf(stderr, "%s: a run failed\n", argv[1]), 1;
  std::printf("%.0f\n", count / took.count());
  return 0;
}
