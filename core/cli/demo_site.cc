#include "core/cli/demo_site.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <thread>
#include <utility>

#include "core/base/files.h"
#include "core/cli/beneath.h"
#include "core/cli/program.h"
#include "core/json/writer.h"

namespace hostler::cli {
namespace {

namespace fs = std::filesystem;
using model::Event;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

volatile sig_atomic_t interrupted = 0;
void on_interrupt(int) { interrupted = 1; }

constexpr auto kPatience = 120s;

}  // namespace

Result<std::unique_ptr<DemoSite>> DemoSite::make() {
  std::string name = "/tmp/hostler-demo.XXXXXX";
  if (::mkdtemp(name.data()) == nullptr)
    return tl::unexpected(errno_error("create a folder in /tmp"));
  ::chmod(name.c_str(), 0711);  // Jobs that run as another user must be able to enter it.
  std::unique_ptr<DemoSite> site(new DemoSite);
  site->folder_ = name;
  site->began_ = Clock::now();
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
  return site;
}

DemoSite::~DemoSite() {
  if (daemon_ > 0) ::kill(daemon_, SIGTERM);
}

Result<void> DemoSite::write_config() const {
  std::string text;
  json::Writer w(text);
  w.begin_object().member("disk_reserve", "16MiB");
  w.key("access").begin_object().key("socket").begin_object();
  w.member("path", (folder_ / "hostler.sock").string()).end_object().end_object();
  w.key("types").begin_array();
  w.begin_object().member("name", "small").member("vcpus", 2).member("ram", "2GiB");
  w.key("price").raw("0.02").end_object();
  w.begin_object().member("name", "large").member("vcpus", 8).member("ram", "8GiB");
  w.key("price").raw("0.08").end_object().end_array();
  w.key("sets").begin_array().begin_object().member("name", "local").member("driver", "local");
  w.member("list_interval", "1s").key("config").begin_object();
  w.member("root", (folder_ / "instances").string()).member("instances_max", 20);
  w.end_object().end_object().end_array();
  w.key("pools").begin_array().begin_object().member("name", "default");
  w.key("sets").begin_array().value("local").end_array();
  w.key("types").begin_array().value("small").value("large").end_array();
  w.member("max", 6).member("idle_timeout", "3s").member("boot_timeout", "1m");
  w.member("shutdown_timeout", "1s").end_object().end_array().end_object();
  return write_file(folder_ / "hostler.json", text, 0644);
}

Result<void> DemoSite::start() {
  HOSTLER_TRY(write_config());
  const std::string program = program_folder() / "hostlerd";
  const std::string config = folder_ / "hostler.json";
  const std::string state = folder_ / "state";
  const std::string log = folder_ / "log";
  std::array<const char*, 6> argv{program.c_str(), "--config",    config.c_str(),
                                  "--state",       state.c_str(), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A process group of its own: Ctrl-C must reach this program only.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int failed = ::posix_spawn(&daemon_, program.c_str(), &files, &attributes,
                                   const_cast<char* const*>(argv.data()), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) {
    daemon_ = -1;
    errno = failed;
    return tl::unexpected(errno_error("start " + program));
  }
  client_ = std::make_unique<Client>(
      HOSTLER_TRY(Endpoint::find("unix://" + (folder_ / "hostler.sock").string(), "")));
  for (const auto until = Clock::now() + 20s; Clock::now() < until && interrupted == 0;) {
    if (client_->get("/health")) return {};
    if (::waitpid(daemon_, nullptr, WNOHANG) == daemon_) {
      daemon_ = -1;
      return fail(Errc::kInternal, "hostlerd ended at once: see " + log);
    }
    std::this_thread::sleep_for(50ms);
  }
  return fail(Errc::kUnavailable, "hostlerd does not answer: see " + log);
}

void DemoSite::print_line(const std::string& text) const {
  const auto elapsed = std::chrono::duration<double>(Clock::now() - began_).count();
  std::printf("%5.1f s  %-64s hosts %zu, jobs: %zu waiting, %zu running, %zu done\n", elapsed,
              text.c_str(), instances_.size(), waiting_.size(), running_.size(), ended_);
}

void DemoSite::on_record(json::Value record) {
  const std::string subject(record.at("subject").text());
  last_revision_ = static_cast<std::uint64_t>(record.at("rev").int_or(0));
  const auto event = model::parse_event(record.at("event").text());
  if (!event) return;  // A daemon of another version.
  const std::string reason(record.at("reason").text_or(""));
  if (subject.starts_with("j-"))
    on_job_event(subject, *event, reason);
  else if (subject.starts_with("h-"))
    on_instance_event(subject, *event, std::string(record.at("reason_code").text_or("")), reason);
  else if (*event == Event::kOpenFailed)
    failure_ = subject + " cannot be used: " + reason;
}

void DemoSite::on_job_event(const std::string& job, Event event, const std::string& reason) {
  waiting_.erase(job);
  running_.erase(job);
  switch (event) {
    case Event::kSubmitted:
    case Event::kQueuedAgain:
      waiting_.insert(job);
      return;
    case Event::kStarting:
    case Event::kCollecting:
      running_.insert(job);
      return;
    case Event::kFailed:
    case Event::kCancelled:
      failure_ = job + " " + to_string(event) + ": " + reason;
      break;
    case Event::kSucceeded:
      break;
    default:
      return;
  }
  if (++ended_ % 5 == 0) print_line(job + " " + to_string(event));
}

void DemoSite::on_instance_event(const std::string& instance, Event event, const std::string& code,
                                 const std::string& reason) {
  std::string text = instance + " " + to_string(event);
  switch (event) {
    case Event::kCreateIntended:
      instances_.insert(instance);
      text += " (" + code + ", " + reason + ")";
      break;
    case Event::kVerified:
      text += " by its " + code + " key";
      break;
    case Event::kTerminating:
      text += ": " + reason;
      break;
    case Event::kCreateRefused:
    case Event::kGone:
      instances_.erase(instance);
      break;
    default:
      break;
  }
  print_line(text.substr(0, 64));
}

Result<void> DemoSite::follow(bool (*is_done)(const DemoSite&, std::size_t), std::size_t wanted) {
  const auto until = Clock::now() + kPatience;
  const auto goes_on = [&] { return interrupted == 0 && Clock::now() < until; };
  while (!is_done(*this, wanted)) {
    auto followed = client_->follow(
        "/v1/events?after=" + std::to_string(last_revision_),
        [&](std::string_view data) {
          if (const auto record = json::Document::parse(data)) on_record(record->root());
          return goes_on() && failure_.empty() && !is_done(*this, wanted);
        },
        goes_on);
    if (!failure_.empty()) return fail(Errc::kInternal, failure_);
    if (interrupted != 0) return fail(Errc::kInternal, "interrupted");
    if (!followed) return followed;
    if (Clock::now() >= until) return fail(Errc::kInternal, "the demo took too long");
  }
  return {};
}

Result<void> DemoSite::wait_for_jobs(std::size_t ended) {
  return follow([](const DemoSite& site, std::size_t n) { return site.ended_ >= n; }, ended);
}

Result<void> DemoSite::wait_for_no_instances() {
  return follow([](const DemoSite& site, std::size_t) { return site.instances_.empty(); }, 0);
}

Result<std::string> DemoSite::submit(const SubmitOptions& job) { return submit_one(*client_, job); }

Result<void> DemoSite::fetch(const std::string& id, const fs::path& to) {
  const auto files = HOSTLER_TRY(client_->get("/v1/jobs/" + id + "/files"));
  fs::create_directories(to);
  const UniqueFd folder(::open(to.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (const json::Value file : files.root().at("files").children()) {
    const std::string path(file.at("path").text());
    auto local = HOSTLER_TRY(FileBeneath::create(folder, fs::path(path).filename()));
    HOSTLER_TRY(client_->get_file("/v1/jobs/" + id + "/files/" + escape(path), local.fd(),
                                  static_cast<std::uint64_t>(file.at("size").int_or(0))));
    HOSTLER_TRY(local.finish());
  }
  return {};
}

Result<std::string> DemoSite::standard_output(const std::string& id) {
  const auto part = HOSTLER_TRY(client_->get("/v1/jobs/" + id + "/output"));
  return std::string(part.root().at("text").text_or(""));
}

Result<void> DemoSite::stop(bool remove_folder) {
  if (daemon_ > 0) {
    // After a failure instances may be left: have the daemon destroy them before it is stopped.
    const auto until = Clock::now() + 30s;
    for (bool asked = false; client_ && Clock::now() < until; asked = true) {
      const auto left = client_->get("/v1/instances");
      if (!left || left->root().at("instances").size() == 0) break;
      if (!asked)
        for (const json::Value one : left->root().at("instances").children())
          (void)client_->post("/v1/instances/" + std::string(one.at("id").text()) + "/kill", "");
      std::this_thread::sleep_for(200ms);
    }
    ::kill(daemon_, SIGTERM);
    int status = 0;
    while (::waitpid(daemon_, &status, 0) < 0 && errno == EINTR) {
    }
    daemon_ = -1;
    if (remove_folder && status != 0)
      return fail(Errc::kInternal, "hostlerd ended with status " + std::to_string(status) +
                                       ": see " + (folder_ / "log").string());
  }
  if (!remove_folder) return {};
  std::error_code problem;
  fs::remove_all(folder_, problem);
  if (problem)
    return fail(Errc::kInternal, "remove " + folder_.string() + ": " + problem.message());
  return {};
}

}  // namespace hostler::cli
