#include "tests/integration/local/scratch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <stdexcept>

#include "folder/files.h"
#include "folder/instance_folder.h"

namespace hostler::local::test {
namespace {

std::string target_of(const std::string& link) {
  char path[PATH_MAX];
  const ssize_t n = ::readlink(link.c_str(), path, sizeof path);
  return n < 0 ? "" : std::string(path, static_cast<std::size_t>(n));
}

std::string text_of(const std::string& path) {
  try {
    return read_file(path).value_or("");
  } catch (const std::exception&) {  // somebody else's, or just gone
    return "";
  }
}

std::string trace_of(const std::string& process, const std::string& folder) {
  if (text_of(process + "/cmdline").find(folder) != std::string::npos) return "command line";
  if (text_of(process + "/environ").find(folder) != std::string::npos) return "environment";
  if (target_of(process + "/cwd").find(folder) == 0) return "working directory";
  try {
    for (const std::string& fd : names_in(process + "/fd"))
      if (target_of(process + "/fd/" + fd).find(folder) == 0) return "open file";
  } catch (const std::exception&) {
  }
  return "";
}

void end_everything(const std::string& path) {
  for (int rounds = 0; rounds < 500 && !processes_of(path).empty(); ++rounds) {
    for (const std::string& line : processes_of(path))
      if (const int pid = std::atoi(line.c_str()); pid != ::getppid()) ::kill(pid, SIGKILL);
    pause_briefly();
  }
  try {
    remove_tree(path);
  } catch (const std::exception&) {  // as much as could be
  }
}

}  // namespace

Scratch::Scratch() {
  char name[] = "/tmp/hostler-local-XXXXXX";
  if (::mkdtemp(name) == nullptr) throw std::runtime_error("no scratch folder");
  path_ = name;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  janitor_ = ::fork();
  if (janitor_ == 0) {
    ::setsid();
    ::close(ends[1]);
    char byte = 0;
    while (::read(ends[0], &byte, 1) < 0) {
    }
    end_everything(path_);
    ::_exit(0);
  }
  ::close(ends[0]);
  life_ = ends[1];
}

Scratch::~Scratch() {
  ::close(life_);
  ::waitpid(janitor_, nullptr, 0);
}

std::vector<std::string> processes_of(const std::string& folder, pid_t but) {
  std::vector<std::string> found;
  for (const std::string& name : names_in("/proc")) {
    const pid_t pid = std::atoi(name.c_str());
    if (pid <= 1 || pid == ::getpid() || pid == but) continue;
    const std::string trace = trace_of("/proc/" + name, folder);
    if (trace.empty() || !Process::of(pid).runs()) continue;
    std::string command = text_of("/proc/" + name + "/cmdline");
    for (char& c : command)
      if (c == '\0') c = ' ';
    found.push_back(name + " (" + trace + ") " + command);
  }
  return found;
}

void pause_briefly() { ::poll(nullptr, 0, 10); }

Ran run(const std::vector<std::string>& argv) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  Ran ran;
  char buffer[4096];
  ssize_t n = 0;
  while (error == 0 && (n = ::read(ends[0], buffer, sizeof buffer)) > 0)
    ran.output.append(buffer, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  if (error == 0 && ::waitpid(pid, &status, 0) == pid && WIFEXITED(status))
    ran.status = WEXITSTATUS(status);
  return ran;
}

}  // namespace hostler::local::test
