// fake_own_files: a driver with files of its own. Its set does not open: the error says what it has
// found.
#include <sys/wait.h>
#include <unistd.h>

#include <hostler/driver.hpp>
#include <string>

extern "C" int fake_number(void);

namespace {

using hostler::driver::Error;

std::string end_of_program(int fd) {
  if (fd < 0) return "is not named";
  const pid_t child = ::fork();
  if (child == 0) {
    char name[] = "program";
    char* argv[] = {name, nullptr};
    char* environment[] = {nullptr};
    ::fexecve(fd, argv, environment);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return "ended with " + std::to_string(WEXITSTATUS(status));
}

[[noreturn]] void refuse() { throw Error(HOSTLER_E_UNSUPPORTED, "it only opens"); }

struct OwnFiles {
  static hostler::driver::About about() {
    return {"fake_own_files", "1.0", "hostler", "Apache-2.0", "", HOSTLER_THREAD_CONCURRENT, 1};
  }
  OwnFiles(const hostler_host& host, const hostler_set_config&, hostler_op*) {
    const auto* const files = hostler::driver::host_files(host);
    if (files == nullptr) throw Error(HOSTLER_E_INVALID, "the host has no files");
    throw Error(
        HOSTLER_E_INVALID,
        "the library says " + std::to_string(fake_number()) + ", the program " +
            end_of_program(files->descriptor(&host, "fake_program")) + ", another " +
            end_of_program(files->descriptor(&host, "another")) +
            ((files->flags & HOSTLER_HOST_FILES_ONLY) != 0 ? ", no others are allowed" : ""));
  }
  void info(const hostler_set_info_req&, hostler_op*) { refuse(); }
  void create(const hostler_create_req&, hostler_op*) { refuse(); }
  void list(const hostler_list_req&, hostler_op*) { refuse(); }
  void destroy(const hostler_destroy_req&, hostler_op*) { refuse(); }
  void set_tags(const hostler_set_tags_req&, hostler_op*) { refuse(); }
};

}  // namespace

HOSTLER_REGISTER(OwnFiles)
