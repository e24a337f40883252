#include "core/agent/host/attempt/preparation.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "core/agent/host/attempt/slots.h"

namespace hostler::agent {
namespace {

Result<std::vector<std::string>> command_of(const ShimTask& task) {
  if (!task.start.command.empty()) return task.start.command;
  const std::string path = script_path(task.start.attempt);
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0400));
  if (!fd) return tl::unexpected(os_error("create " + path));
  HOSTLER_TRY(write_all(fd.get(), task.start.script, path));
  if (task.uid != 0 && ::fchown(fd.get(), task.uid, task.uid) != 0)
    return tl::unexpected(os_error("change the owner of " + path));
  return std::vector<std::string>{"/bin/sh", task.state_folder + "/" + path};
}

}  // namespace

Result<void> make_folder(const ShimTask& task) {
  if (task.folder_is_ready) return {};
  const std::string folder = work_path(task.slot);
  if (::mkdir(folder.c_str(), 0700) != 0) return tl::unexpected(os_error("create " + folder));
  if (task.uid != 0 && ::chown(folder.c_str(), task.uid, task.uid) != 0)
    return tl::unexpected(os_error("change the owner of " + folder));
  return {};
}

Launch launch_beside(const ShimTask& task) {
  Launch out;
  out.folder = task.state_folder + "/" + work_path(task.slot);
  out.env = {{"HOME", out.folder}, {"TMPDIR", out.folder}};
  out.env.insert(out.env.end(), task.start.env.begin(), task.start.env.end());
  out.env.emplace_back("HOSTLER_JOB_ID", task.start.attempt.work.text());
  out.env.emplace_back("HOSTLER_ATTEMPT", std::to_string(task.start.attempt.number));
  const std::size_t equals = task.marker.find('=');
  out.env.emplace_back(task.marker.substr(0, equals), task.marker.substr(equals + 1));
  out.uid = task.uid;
  out.cgroups = task.cgroups;
  out.no_new_privs = task.start.no_new_privs;
  out.drop_capabilities = task.start.drop_capabilities;
  return out;
}

Result<Launch> launch_of(const ShimTask& task) {
  auto command = HOSTLER_TRY(command_of(task));
  Launch out = launch_beside(task);
  out.command = std::move(command);
  return out;
}

Result<UniqueFd> standard_input(const Start& start) {
  if (!start.stdin_text.empty()) return memory_file(start.stdin_text);
  UniqueFd null = open_null();
  if (!null) return tl::unexpected(os_error("open /dev/null"));
  return null;
}

std::string script_path(model::AttemptId attempt) {
  return "out/" + std::to_string(attempt.work.value) + "." + std::to_string(attempt.number) + ".sh";
}

}  // namespace hostler::agent
