// chaos_run --list                     each behaviour: word, rule, call, what it does
// chaos_run WORD CALL LIBRARY FOLDER   what the host does; to FOLDER/result
// For table.py, which runs each behaviour in a process of its own: that stands for hostlerd.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "core/base/files.h"
#include "sdk/drivers/chaos/behaviours.h"
#include "tests/integration/chaos/host_state.h"
#include "tests/integration/chaos/scenario.h"

namespace hostler::chaos_table {
namespace {

void print(const char* word, const char* rule, const char* call, const char* what) {
  std::printf("%s\t%s\t%s\t%s\n", word, rule, call, what);
}

int list() {
  for (const auto& [word, rule, call, what] : chaos::kBehaviours) print(word, rule, call, what);
  for (const char* call : chaos::kCalls) {
    const std::string in = std::string(" in ") + call;
    const bool closes = std::strcmp(call, "set_close") == 0;
    print(("segv" + in).c_str(), "", call, ("crashes" + in).c_str());
    print(("throw" + in).c_str(), "R45", call, ("throws from" + in.substr(3)).c_str());
    print(("hang" + in).c_str(), closes ? "R25" : "R31", call, ("hangs" + in).c_str());
  }
  return 0;
}

/// As the standard output or error of this process.
void redirect(const std::string& file, int fd) {
  const int opened = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  ::dup2(opened, fd);
  ::close(opened);
}

/// Whether somebody waits at the pipe still; one who is being killed has time to go.
bool is_waited_for(const std::string& gate) {
  for (int look = 0; look < 100; ++look) {
    const int fd = ::open(gate.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return false;
    ::close(fd);
    ::usleep(10'000);
  }
  return true;
}

int run(char** argv) {
  const std::string folder = argv[4];
  ::mkfifo((folder + "/gate").c_str(), 0600);
  redirect(folder + "/output", STDOUT_FILENO);
  redirect(folder + "/log", STDERR_FILENO);
  const rlimit descriptors{1024, 1024}, no_core{0, 0};
  ::setrlimit(RLIMIT_NOFILE, &descriptors);
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGTERM, [](int) { ::_exit(0); });  // as hostlerd has one
  const HostState state(folder + "/output");
  std::string text =
      run(Scenario{.word = argv[1], .call = argv[2], .library = argv[3], .folder = folder});
  std::string damages;
  for (const auto& damage : state.damages()) damages += (damages.empty() ? "" : ", ") + damage;
  if (!damages.empty()) text += "; **hostlerd**: " + damages;
  ::close_range(100, ~0U, 0);            // what the driver has leaked
  redirect("/dev/null", STDERR_FILENO);  // what hangs would be logged when it goes on
  if (is_waited_for(folder + "/gate")) text += "; a process that it has forked is left";
  (void)write_file(folder + "/result", text, 0600);
  // Ends what still waits for it, also in processes that the driver has forked.
  const int gate = ::open((folder + "/gate").c_str(), O_RDWR | O_CLOEXEC);
  return gate >= 0 ? 0 : 1;
}

}  // namespace
}  // namespace hostler::chaos_table

int main(int argc, char** argv) {
  using namespace hostler::chaos_table;
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) return list();
  if (argc != 5) return 2;
  ::_exit(run(argv));  // a driver may hang in a thread
}
