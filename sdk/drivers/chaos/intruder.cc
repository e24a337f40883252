// A driver that tries what a sandbox refuses: `do` of its config says what, on `path`. It never
// opens its set; the error says how the attempt ended: "read: Permission denied", "read: done".
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <net/if.h>
#include <netdb.h>
#include <sched.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>

#include "hostler/driver.hpp"

namespace {

using hostler::driver::view;

/// Tries something on a path. Success: 0; else what errno is then, or 0 with errno 0.
using Attempt = long (*)(const char* path);

long open_and_close(const char* path, int flags) {
  const int fd = ::open(path, flags | O_CLOEXEC, 0600);
  return fd < 0 ? -1 : ::close(fd);
}

/// What the library's constructor found: code of the driver runs before hostlerd asks for its
/// table.
const int error_in_constructor = open_and_close("/etc/passwd", O_RDONLY) == 0 ? 0 : errno;

long run(const char* program) {
  std::string name = program;
  std::array<char*, 2> argv{name.data(), nullptr};
  pid_t pid = 0;
  errno = ::posix_spawn(&pid, program, nullptr, nullptr, argv.data(), nullptr);
  if (errno != 0) return -1;
  int status = 0;
  ::waitpid(pid, &status, 0);
  errno = ENOEXEC;  // it ran, but not well
  return status == 0 ? 0 : -1;
}

long fork_and_wait() {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  return pid < 0 ? -1 : ::waitpid(pid, nullptr, 0);
}

long raise_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max = limit.rlim_max + 1;
  return ::setrlimit(RLIMIT_NOFILE, &limit);
}

long make_socket(int family, int type = SOCK_STREAM) {
  const int fd = ::socket(family, type | SOCK_CLOEXEC, 0);
  return fd < 0 ? -1 : ::close(fd);
}

long make_socket_pair(int type) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) return -1;
  return ::close(ends[0]) + ::close(ends[1]);
}

/// With addresses of this machine only: no server is asked.
long resolve() {
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo("localhost", "80", nullptr, &found);
  if (error == 0) ::freeaddrinfo(found);
  errno = error == 0 ? 0 : EHOSTUNREACH;
  return error == 0 ? 0 : -1;
}

/// Of its own; the host needs none.
long have_capabilities() {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> have{};
  ::syscall(SYS_capget, &head, have.data());
  errno = EPERM;
  return have[0].permitted != 0 || have[1].permitted != 0 ? 0 : -1;
}

long use_memory() {
  constexpr std::size_t kBytes = std::size_t{5} << 30U;
  const std::unique_ptr<char[]> memory(new (std::nothrow) char[kBytes]);
  errno = ENOMEM;
  return memory != nullptr ? 0 : -1;
}

constexpr std::size_t kMiB = std::size_t{1} << 20U;

/// The pages are there once they are written to.
/// The kernel fills it: stores of this code would make tsan fill twice as much of its own.
long share_mapping(std::size_t bytes) {
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  return at == MAP_FAILED ? -1 : 0;
}

long share_file(std::size_t bytes) {
  const int fd = ::memfd_create("shared", MFD_CLOEXEC);
  return fd < 0 ? -1 : ::fallocate(fd, 0, 0, static_cast<off_t>(bytes));
}

/// Until the process is ended, or gets no more.
long make_threads(std::size_t count) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, std::size_t{256} << 10U);
  const auto wait = [](void*) -> void* {
    for (;;) ::pause();
  };
  pthread_t thread{};
  while (count-- > 0)
    if ((errno = ::pthread_create(&thread, &small, wait, nullptr)) != 0) return -1;
  for (;;) ::pause();
}

/// On a descriptor that only reads.
template <class F>
long use_file(const char* path, F use) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  return fd < 0 ? -1 : use(fd);
}

long lock_record(int fd) {
  struct flock lock {};
  lock.l_type = F_RDLCK;
  return ::fcntl(fd, F_SETLK, &lock);
}

/// As they are: who may do this may change them.
long set_attributes(int fd) {
  int flags = 0;
  (void)::ioctl(fd, FS_IOC_GETFLAGS, &flags);
  return ::ioctl(fd, FS_IOC_SETFLAGS, &flags);
}

long ask_block_size(int fd) {
  int size = 0;
  return ::ioctl(fd, FIGETBSZ, &size);
}

/// What libraries ask of their own descriptors.
long use_sockets() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return -1;
  int yes = 1, count = 0;
  ifconf interfaces{};
  const int inet = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  for (const long end :
       {::ioctl(ends[0], FIONBIO, &yes), ::ioctl(ends[0], FIONREAD, &count),
        ::ioctl(ends[0], FIOCLEX), ::ioctl(inet, SIOCGIFCONF, &interfaces),
        ::fcntl(ends[0], F_SETFL, O_NONBLOCK), ::fcntl(ends[0], F_DUPFD_CLOEXEC, 100),
        ::fcntl(::memfd_create("mine", MFD_ALLOW_SEALING), F_ADD_SEALS, F_SEAL_SHRINK)})
    if (end < 0) return -1;
  return 0;
}

/// 4000 answers to pings that nobody has sent, as core/driver_host/wire/frame.h has them: on the
/// socket of the process, which is not the driver's.
long send_pongs() {
  struct Frame {
    std::uint32_t size = 0;
    std::uint16_t type = 135, flags = 0;
    std::uint64_t call = 0;
  };
  const std::array<Frame, 2000> pongs{};
  constexpr int kCallsFd = 3;
  for (int i = 0; i < 2; ++i)
    if (::send(kCallsFd, pongs.data(), sizeof pongs, MSG_NOSIGNAL) < 0) return -1;
  return 0;
}

/// Keeps them until the process is ended.
long keep_80(long (*share)(std::size_t)) {
  for (int i = 0; i < 80; ++i)
    if (share(63 * kMiB) < 0) return -1;
  for (;;) ::pause();
}

long pin(pid_t process) {
  cpu_set_t processors;
  ::sched_getaffinity(0, sizeof processors, &processors);
  return ::sched_setaffinity(process, sizeof processors, &processors);
}

long watch_names(const char* path) {
  const int fd = ::inotify_init1(IN_CLOEXEC);
  return fd < 0 ? -1 : ::inotify_add_watch(fd, path, IN_CREATE);
}

const std::map<std::string, Attempt> kAttempts{
    {"nothing", [](const char*) { return 0L; }},
    {"constructor",
     [](const char*) {
       errno = error_in_constructor;
       return error_in_constructor == 0 ? 0L : -1L;
     }},
    {"read", [](const char* path) { return open_and_close(path, O_RDONLY); }},
    {"list", [](const char* path) { return open_and_close(path, O_RDONLY | O_DIRECTORY); }},
    {"write", [](const char* path) { return open_and_close(path, O_WRONLY); }},
    {"make", [](const char* path) { return open_and_close(path, O_WRONLY | O_CREAT | O_EXCL); }},
    {"make_temporary", [](const char* path) { return open_and_close(path, O_WRONLY | O_TMPFILE); }},
    {"read_and_truncate",
     [](const char* path) { return open_and_close(path, O_RDONLY | O_TRUNC); }},
    {"truncate", [](const char* path) -> long { return ::truncate(path, 0); }},
    {"chmod", [](const char* path) -> long { return ::chmod(path, 0666); }},
    {"remove", [](const char* path) -> long { return ::unlink(path); }},
    {"rename", [](const char* path) -> long { return ::rename(path, "/tmp/hostler-renamed"); }},
    {"exec", &run},
    {"fork", [](const char*) { return fork_and_wait(); }},
    {"raise_limit", [](const char*) { return raise_limit(); }},
    {"ptrace", [](const char*) { return ::ptrace(PTRACE_SEIZE, ::getppid(), nullptr, nullptr); }},
    {"read_memory",
     [](const char*) {
       char byte = 0;
       iovec here{&byte, 1}, there{&byte, 1};
       return static_cast<long>(::process_vm_readv(::getppid(), &here, 1, &there, 1, 0));
     }},
    {"signal", [](const char*) -> long { return ::kill(::getppid(), SIGCONT); }},
    {"signal_itself", [](const char*) -> long { return ::kill(::getpid(), SIGCONT); }},
    {"survive", [](const char*) -> long { return ::prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0); }},
    {"name_itself", [](const char*) -> long { return ::prctl(PR_SET_NAME, "mine", 0, 0, 0); }},
    {"capabilities", [](const char*) { return have_capabilities(); }},
    {"memory", [](const char*) { return use_memory(); }},
    {"share_mapping", [](const char*) { return share_mapping(65 * kMiB); }},
    {"share_file", [](const char*) { return share_file(65 * kMiB); }},
    {"share_80_mappings", [](const char*) { return keep_80(&share_mapping); }},
    {"share_80_files", [](const char*) { return keep_80(&share_file); }},
    {"pongs", [](const char*) { return send_pongs(); }},
    {"1200_threads", [](const char*) { return make_threads(1200); }},
    {"lease",
     [](const char* path) {
       return use_file(path, [](int fd) { return ::fcntl(fd, F_SETLEASE, F_RDLCK); });
     }},
    {"notify",
     [](const char*) {
       return use_file("/usr", [](int fd) { return ::fcntl(fd, F_NOTIFY, DN_CREATE); });
     }},
    {"lock",
     [](const char* path) {
       return use_file(path, [](int fd) { return ::flock(fd, LOCK_EX | LOCK_NB); });
     }},
    {"lock_record", [](const char* path) { return use_file(path, &lock_record); }},
    {"set_attributes", [](const char* path) { return use_file(path, &set_attributes); }},
    {"block_size", [](const char* path) { return use_file(path, &ask_block_size); }},
    {"use_sockets", [](const char*) { return use_sockets(); }},
    {"pin_host", [](const char*) { return pin(::getppid()); }},
    {"pin_itself", [](const char*) { return pin(0); }},
    {"read_limits",
     [](const char*) -> long {
       rlimit limit{};
       return ::prlimit(::getppid(), RLIMIT_NOFILE, nullptr, &limit);
     }},
    {"watch", &watch_names},
    {"inet_socket", [](const char*) { return make_socket(AF_INET6, SOCK_DGRAM); }},
    {"unix_socket", [](const char*) { return make_socket(AF_UNIX); }},
    // The resolver of libcurl and Rust's tokio wake their threads by one.
    {"socket_pair", [](const char*) { return make_socket_pair(SOCK_STREAM); }},
    // Such an end can send to any named socket.
    {"packet_pair", [](const char*) { return make_socket_pair(SOCK_DGRAM); }},
    {"crypto_socket", [](const char*) { return make_socket(AF_ALG, SOCK_SEQPACKET); }},
    {"resolve", [](const char*) { return resolve(); }},
    {"mount", [](const char*) { return ::syscall(SYS_unshare, 0x00020000); }},
    {"bpf", [](const char*) { return ::syscall(SYS_bpf, 0, nullptr, 0); }},
    {"io_uring", [](const char*) { return ::syscall(SYS_io_uring_setup, 0, nullptr); }},
    {"new_call", [](const char*) { return ::syscall(100'000); }},
    {"clone3", [](const char*) { return ::syscall(SYS_clone3, nullptr, 0); }},
};

std::string value_of(std::string_view config, const std::string& key) {
  const auto found = config.find('"' + key + '"');
  if (found == std::string::npos) return {};
  const auto from = config.find('"', config.find(':', found)) + 1;
  return std::string(config.substr(from, config.find('"', from) - from));
}

class Intruder {
 public:
  static hostler::driver::About about() {
    return {"fake_intruder",           "1.0", "hostler tests", "Apache-2.0", R"({"type":"object"})",
            HOSTLER_THREAD_CONCURRENT, 4};
  }
  Intruder(const hostler_host&, const hostler_set_config& c, hostler_op*) {
    const std::string word = value_of(view(c.config_json), "do");
    const std::string path = value_of(view(c.config_json), "path");
    std::string end;
    // On a thread of its own: what is taken from a process is taken from all its threads.
    std::thread([&] {
      errno = 0;
      const bool done = kAttempts.at(word)(path.c_str()) >= 0;
      end = done ? "done" : std::strerror(errno);
    }).join();
    throw hostler::driver::Error(HOSTLER_E_INVALID, word + ": " + end);
  }

  void info(const hostler_set_info_req&, hostler_op*) {}
  void create(const hostler_create_req&, hostler_op*) {}
  void list(const hostler_list_req&, hostler_op*) {}
  void destroy(const hostler_destroy_req&, hostler_op*) {}
  void set_tags(const hostler_set_tags_req&, hostler_op*) {}
};

}  // namespace

HOSTLER_REGISTER(Intruder)
