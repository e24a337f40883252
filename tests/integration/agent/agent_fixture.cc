#include "tests/integration/agent/agent_fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

namespace hostler::agent::test {
namespace {

using Clock = std::chrono::steady_clock;

std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// Polls for what the kernel has no event for, with a deadline; never decides by time alone.
bool await(const std::function<bool()>& done) {
  const auto deadline = Clock::now() + kPatience;
  while (!done()) {
    if (Clock::now() > deadline) return false;
    ::poll(nullptr, 0, 5);
  }
  return true;
}

/// Of all agents that this test has met.
std::set<std::string>& state_ids() {
  static std::set<std::string> ids;
  return ids;
}

std::vector<pid_t> all_pids() {
  std::vector<pid_t> out;
  for (const auto& entry : std::filesystem::directory_iterator("/proc"))
    if (const auto pid = parse_u64(entry.path().filename().string()))
      out.push_back(static_cast<pid_t>(*pid));
  return out;
}

std::vector<pid_t> processes_with(const std::string& text) {
  std::vector<pid_t> out;
  for (const pid_t pid : all_pids())
    if (pid != ::getpid() &&
        slurp("/proc/" + std::to_string(pid) + "/environ").find(text) != std::string::npos)
      out.push_back(pid);
  return out;
}

}  // namespace

Link::Link(const std::vector<std::string>& argv, const std::map<std::string, std::string>& env,
           std::uint64_t window)
    : client(window) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) abort();
  std::vector<std::string> lines;
  for (const auto& [name, value] : env) lines.push_back(name + "=" + value);
  std::vector<char*> args;
  std::vector<char*> envp;
  for (const auto& arg : argv) args.push_back(const_cast<char*>(arg.c_str()));
  for (auto& line : lines) envp.push_back(line.data());
  args.push_back(nullptr);
  envp.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(ends[1], 0);
    ::dup2(ends[1], 1);
    ::execve(args[0], args.data(), envp.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  channel_.reset(ends[0]);
  ::fcntl(channel_.get(), F_SETFL, O_NONBLOCK);
}

Link::~Link() {
  channel_.reset();
  ::waitpid(pid_, nullptr, 0);
}

std::string Link::all_output(const Exit& exit) {
  if (exit.end.output_is_inline) return exit.end.stdout_inline;
  EXPECT_TRUE(await<Collected>([&](const Collected& c) { return c.attempt == exit.attempt; }));
  return streams[{exit.attempt, kStdout}];
}

void Link::flush() {
  while (!client.pending().empty() && error.empty())
    if (!pump(kPatience)) return;
}

bool Link::pump(std::chrono::milliseconds patience) {
  pollfd poll{channel_.get(), POLLIN, 0};
  if (!client.pending().empty()) poll.events |= POLLOUT;
  if (::poll(&poll, 1, static_cast<int>(patience.count())) <= 0) return false;
  if ((poll.revents & POLLOUT) != 0) {
    const auto pending = client.pending();
    const ssize_t n = ::send(channel_.get(), pending.data(), pending.size(), MSG_NOSIGNAL);
    if (n > 0) client.sent(static_cast<std::size_t>(n));
    if (n < 0 && errno != EAGAIN) return false;
  }
  if ((poll.revents & (POLLIN | POLLHUP)) != 0) {
    char buffer[65536];
    const ssize_t n = ::read(channel_.get(), buffer, sizeof buffer);
    if (n == 0 || (n < 0 && errno != EAGAIN)) return false;
    if (n > 0)
      if (auto got = client.receive({buffer, static_cast<std::size_t>(n)}); !got) {
        error = got.error().message;
        return false;
      }
    if (client.hello() != nullptr && !std::exchange(is_configured_, true)) {
      EXPECT_TRUE(client.configure(settings));
    }
  }
  return true;
}

std::optional<Event> Link::next(std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  for (;;) {
    auto event = client.next();
    if (event) {
      if (const auto* ready = std::get_if<Ready>(&*event))
        state_ids().insert(ready->hello.state_id);
      if (auto* chunk = std::get_if<Chunk>(&*event)) {
        const auto key = std::pair(chunk->attempt, chunk->stream);
        streams[key] += chunk->data;
        gaps[key] += chunk->gap;
        if (auto_durable)
          client.durable(chunk->attempt, chunk->stream, chunk->offset + chunk->data.size());
      }
      if (const auto* files = std::get_if<Files>(&*event))
        if (auto_durable) client.files_durable(files->attempt);
      return event;
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0 || !error.empty() || !pump(left)) return std::nullopt;
  }
}

bool Link::await_end() {
  for (;;) {
    pollfd poll{channel_.get(), POLLIN, 0};
    if (::poll(&poll, 1, static_cast<int>(std::chrono::milliseconds(kPatience).count())) <= 0)
      return false;
    char buffer[65536];
    const ssize_t n = ::read(channel_.get(), buffer, sizeof buffer);
    if (n == 0 || (n < 0 && errno == ECONNRESET)) return true;
    if (n < 0 && errno != EAGAIN) return false;
  }
}

AgentTest::AgentTest() {
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  state_ = folder_ / "state";
  command_ = {HOSTLER_AGENT_PROGRAM, "connect", "--dir", state_.string()};
}

AgentTest::~AgentTest() {
  for (int i = 0; i < 3; ++i) {
    if (const pid_t pid = server_pid()) ::kill(pid, SIGKILL), await_gone(pid);
    for (const pid_t pid : processes_with("HOSTLER_TEST_FOLDER=" + folder_.path().string())) {
      ::kill(pid, SIGKILL);
      await_gone(pid);
    }
  }
  std::error_code ignored;
  // A server that was killed leaves empty cgroups.
  for (const auto& base : cgroups_here()) {
    for (const auto& slot : std::filesystem::directory_iterator(base, ignored))
      if (slot.is_directory()) ::rmdir(slot.path().c_str());
    ::rmdir(base.c_str());
  }
  state_ids().clear();
}

std::unique_ptr<Link> AgentTest::connect(std::uint64_t window) {
  auto env = env_;
  env["HOSTLER_BOOT_ID"] = boot_id_;
  env["HOSTLER_TEST_FOLDER"] = folder_.path().string();
  return std::make_unique<Link>(command_, env, window);
}

std::unique_ptr<Link> AgentTest::ready_link(const Configure& configure) {
  auto link = connect();
  link->settings = configure;
  const auto ready = link->await<Ready>();
  EXPECT_TRUE(ready) << link->error;
  if (ready) {
    EXPECT_EQ(ready->hello.boot_id, boot_id_);
  }
  return link;
}

void AgentTest::drop_privileges() {
  ASSERT_EQ(::chown(folder_.path().c_str(), 710'001, 710'001), 0);
  // The program may lie where only root comes.
  const auto program = folder_ / "hostler-agent";
  std::filesystem::copy_file(command_[0], program);
  command_[0] = program;
  command_.insert(command_.begin(),
                  {"/usr/bin/setpriv", "--reuid=710001", "--regid=710001", "--clear-groups"});
}

Start AgentTest::command(std::vector<std::string> argv) {
  Start start;
  start.attempt = {model::WorkId{++last_job_}, 1};
  start.boot_id = boot_id_;
  start.sequence = ++last_sequence_;
  start.command = std::move(argv);
  start.env = {{"HOSTLER_TEST_FOLDER", folder_.path().string()}};
  start.grace_us = 10'000'000;
  return start;
}

Start AgentTest::script(std::string text) {
  Start start = command({});
  start.script = std::move(text);
  return start;
}

Exit AgentTest::run(Link& link, const Start& start) {
  EXPECT_TRUE(link.client.start(start));
  auto exit = link.await_exit(start.attempt);
  EXPECT_TRUE(exit) << "no exit of " << start.attempt.text() << " " << link.error;
  return exit.value_or(Exit{});
}

namespace {

pid_t lock_holder(const std::filesystem::path& file, std::uint64_t offset) {
  const UniqueFd fd(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_start = static_cast<off_t>(offset);
  lock.l_len = 1;
  if (!fd || ::fcntl(fd.get(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return 0;
  return lock.l_pid;
}

}  // namespace

pid_t AgentTest::server_pid() const {
  // The one whose cwd is the folder, which has the listener open: jobs and shims have not.
  for (const pid_t pid : all_pids()) {
    std::error_code failed;
    const auto base = std::filesystem::path("/proc") / std::to_string(pid);
    if (std::filesystem::read_symlink(base / "cwd", failed) != state_ || failed) continue;
    for (const auto& entry : std::filesystem::directory_iterator(base / "fd", failed))
      if (std::filesystem::read_symlink(entry.path(), failed) == state_ / "server.lock") return pid;
  }
  return 0;
}

pid_t AgentTest::shim_pid_of(const Start& start) const {
  return lock_holder(state_ / "shims.lock", start.sequence);
}

void AgentTest::kill_server() {
  const pid_t pid = server_pid();
  ASSERT_GT(pid, 0);
  ::kill(pid, SIGKILL);
  ASSERT_TRUE(await_gone(pid));
}

std::vector<std::filesystem::path> cgroups_here() {
  std::vector<std::filesystem::path> out;
  std::error_code ignored;
  for (std::filesystem::recursive_directory_iterator at("/sys/fs/cgroup", ignored), end;
       at != end && !ignored; at.increment(ignored))
    for (const std::string& id : state_ids())
      if (at->path().filename() == "hostler-agent-" + id) out.push_back(at->path());
  return out;
}

bool await_file(const std::filesystem::path& path) {
  return await([&] { return std::filesystem::exists(path); });
}

bool await_empty(const std::filesystem::path& path) {
  return await([&] { return std::filesystem::is_empty(path); });
}

bool await_gone(pid_t pid) {
  return await([&] {
    if (::kill(pid, 0) != 0) return true;
    const std::string stat = slurp("/proc/" + std::to_string(pid) + "/stat");
    const std::size_t close =
        stat.rfind(')');  // a zombie that its reaper is slow to collect is gone
    return close != std::string::npos && close + 2 < stat.size() && stat[close + 2] == 'Z';
  });
}

std::vector<pid_t> processes_of(const Start& start) {
  std::vector<pid_t> out;
  const std::string number = "." + std::to_string(start.sequence) + '\0';
  for (const std::string& id : state_ids())
    for (const pid_t pid : processes_with("HOSTLER_ATTEMPT_KEY=" + id + number)) out.push_back(pid);
  return out;
}

}  // namespace hostler::agent::test
