// What a driver must leave alone: the process, its descriptors, threads and memory.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <clocale>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "chaos.h"

namespace chaos {
namespace {

constexpr int kDescriptorsMax = 256, kThreads = 100;

/// The forked process keeps what it has inherited until somebody opens the gate.
void fork_process(const std::string& gate) {
  if (::fork() != 0) return;
  wait_at_gate(gate);
  ::_exit(0);
}

void write_everywhere() {
  static constexpr std::array<char, 100> kGarbage{"garbage"};
  for (int fd = 3; fd < kDescriptorsMax; ++fd) (void)!::write(fd, kGarbage.data(), kGarbage.size());
}

/// The message with which a process of hostler's says which driver it has loaded.
std::string hello() {
  const auto number = [](std::uint32_t value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const auto text = [&](const std::string& s) {
    return number(static_cast<std::uint32_t>(s.size())) + s + '\0';
  };
  std::string body = number(1) + text("1") + text(CHAOS_NAME) + text("1.0");
  for (int i = 0; i < 4; ++i) body += text("");  // vendor, license, runtime, schema
  body += number(2) + number(4) + number(0) + number(0) + number(0) + text("full");
  constexpr std::uint32_t kHello = 128;
  return number(static_cast<std::uint32_t>(body.size())) + number(kHello) + number(0) + number(0) +
         body;
}

void leak_threads(const std::string& gate) {
  for (int i = 0; i < kThreads; ++i) std::thread([gate] { wait_at_gate(gate); }).detach();
}

void leak_memory() {
  constexpr std::size_t kBytes = std::size_t{64} << 20U, kPage = 4096;
  volatile char* const leaked = new char[kBytes];
  for (std::size_t at = 0; at < kBytes; at += kPage) leaked[at] = 1;
}

}  // namespace

void say_hello_again() {
  constexpr int kSocket = 3, kTimes = 800;
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(kSocket, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET)
    return;  // the process is not hostler's own
  const std::string message = hello();
  for (int i = 0; i < kTimes; ++i) {
    (void)!::write(kSocket, message.data(), message.size());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void change_process(const std::string& word, const std::string& gate) {
  if (word == "leak_threads") leak_threads(gate);
  if (word == "change_directory") (void)!::chdir("/dev");
  if (word == "change_locale") std::setlocale(LC_ALL, "C.UTF-8");
  if (word == "change_environment") ::setenv("HOSTLER_CHAOS", "1", 1);
  if (word == "clear_environment") ::clearenv();
  if (word == "change_umask") ::umask(0);
  if (word == "change_signals")
    for (const int signal : {SIGTERM, SIGSEGV, SIGPIPE}) ::signal(signal, [](int) {});
}

void harm_process(const std::string& word, const std::string& gate) {
  if (word == "fork" || word == "fork_and_die") fork_process(gate);
  if (word == "fork_and_die") ::raise(SIGKILL);
  if (word == "close_descriptors") ::close_range(3, ~0U, 0);
  if (word == "close_output") ::close(STDOUT_FILENO), ::close(STDERR_FILENO);
  if (word == "write_to_descriptors") write_everywhere();
  if (word == "write_to_stdout") std::puts("this is for nobody"), std::fflush(stdout);
  if (word == "flood_stdout") {
    for (int line = 0; line < 100'000; ++line) std::puts("again and again");
    std::fflush(stdout);
  }
  if (word == "flood_stderr") {
    const std::string block(std::size_t{64} << 10U, 'x');
    for (int i = 0; i < 16; ++i) std::fwrite(block.data(), 1, block.size(), stderr);
  }
  if (word == "leak_descriptors")
    while (::open("/dev/null", O_RDONLY) >= 0) {  // NOLINT: it leaks
    }
  if (word == "leak_memory") leak_memory();
}

}  // namespace chaos
