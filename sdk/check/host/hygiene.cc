#include "sdk/check/host/hygiene.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "sdk/check/kit_descriptors.h"

namespace hostler::check {
namespace {

constexpr int kWatched = 3, kWatching = kKitDescriptors + 400;

/// Programs of children of this process that are this very program: forked without exec.
std::size_t forked_copies() {
  std::array<char, 4096> own{}, other{};
  const ssize_t size = ::readlink("/proc/self/exe", own.data(), own.size());
  std::size_t copies = 0;
  DIR* const tasks = ::opendir("/proc/self/task");
  if (tasks == nullptr || size <= 0) return 0;
  while (const dirent* task = ::readdir(tasks)) {
    if (task->d_name[0] == '.') continue;
    std::ifstream children(std::string("/proc/self/task/") + task->d_name + "/children");
    for (std::string child; children >> child;) {
      const ssize_t n = ::readlink(("/proc/" + child + "/exe").c_str(), other.data(), other.size());
      if (n == size && own == other) ++copies;
    }
  }
  ::closedir(tasks);
  return copies;
}

bool was_written_to() {
  char byte = 0;
  return ::recv(kWatching, &byte, 1, MSG_DONTWAIT | MSG_PEEK) > 0;
}

/// Threads beyond these. On a busy machine those that have ended are still seen for a while.
std::size_t threads_beyond(std::size_t before) {
  constexpr int kLooks = 30;  // of a tenth of a second each
  std::size_t now = driver_host::other_threads();
  for (int look = 0; now > before && look < kLooks; ++look) now = driver_host::other_threads();
  return now > before ? now - before : 0;
}

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

}  // namespace

void watch_descriptors() {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
    return;
  UniqueFd first(ends[0]);
  const UniqueFd second(ends[1]);
  (void)::dup3(second.get(), kWatching, O_CLOEXEC);
  if (first.get() == kWatched)
    (void)first.release();
  else
    (void)::dup3(first.get(), kWatched, O_CLOEXEC);
}

std::set<int> open_descriptors() {
  std::set<int> out;
  for (int fd = 0; fd < kKitDescriptors; ++fd)
    if (is_open(fd)) out.insert(fd);
  return out;
}

std::size_t resident_bytes() {
  const auto text = read_file("/proc/self/statm", 4096);
  if (!text) return 0;
  const auto blank = text->find(' ');
  return blank == std::string::npos
             ? 0
             : std::stoul(text->substr(blank + 1)) * static_cast<std::size_t>(::getpagesize());
}

Hygiene::Hygiene() : threads_(driver_host::other_threads()), descriptors_(open_descriptors()) {}

void Hygiene::check_load(Findings& findings, bool is_go) {
  const auto found = [&](const std::string& what) {
    if (is_go)
      findings.warn("R2", "load", what + ": as runtimes of Go do");
    else
      findings.fail("R2", "load", what);
  };
  for (const auto& change : state_.changes()) found("loading has changed " + change);
  if (const auto more = threads_beyond(threads_); more > 0)
    found("loading has started " + std::to_string(more) + " threads");
  // The loader keeps the library's own file open, which is the kit's.
  std::size_t opened = 0;
  for (const int fd : open_descriptors())
    if (descriptors_.count(fd) == 0) ++opened;
  if (opened > 1) found("loading has opened " + std::to_string(opened - 1) + " descriptors");
}

void Hygiene::begin_sets() {
  descriptors_ = open_descriptors();
  threads_ = driver_host::other_threads();
}

void Hygiene::check_process(Findings& findings, const char* call, bool is_go) {
  for (const auto& change : state_.changes())
    if (!is_go || change != "handlers of signals")
      findings.fail("R44", call, "the driver has changed " + change);
  if (was_written_to())
    findings.fail("R44", call, "the driver has written to a descriptor that is not its own");
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, kWatched})
    if (!is_open(fd))
      findings.fail("R44", call, "the driver has closed descriptors that are not its own");
  if (const auto copies = forked_copies(); copies > 0)
    findings.fail("R44", call, "the driver has forked without exec");
  for (const int fd : open_descriptors())
    if (descriptors_.count(fd) == 0 && (::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0)
      // No failure: libraries such as libcurl do it, and a driver in its own process starts nobody.
      findings.warn("R44", call, "the driver has opened a descriptor without O_CLOEXEC");
}

void Hygiene::check_closed(Findings& findings, bool is_go) {
  if (const auto more = is_go ? 0 : threads_beyond(threads_); more > 0)
    findings.fail("R37", "set_close", std::to_string(more) + " threads are left after set_close");
  std::size_t left = 0;
  for (const int fd : open_descriptors())
    if (descriptors_.count(fd) == 0) ++left;
  if (left == 0) return;
  const std::string text = std::to_string(left) + " descriptors are left after set_close";
  if (is_go || left == 1)  // what is opened once for the process, such as /dev/urandom
    findings.warn("limit", "set_close", text);
  else
    findings.fail("limit", "set_close", text);
}

}  // namespace hostler::check
