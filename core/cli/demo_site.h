#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "core/cli/commands.h"
#include "core/model/event.h"

namespace hostler::cli {

/// A daemon for the demo, with the local driver and a scratch folder of its own. Its event stream
/// is followed and printed. After Ctrl-C each waiting function returns an error; call stop() then,
/// as after any error.
class DemoSite {
 public:
  static Result<std::unique_ptr<DemoSite>> make();
  ~DemoSite();
  DemoSite(const DemoSite&) = delete;
  DemoSite& operator=(const DemoSite&) = delete;

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  Result<void> start();
  Result<std::string> submit(const SubmitOptions& job);
  /// Waits until this many jobs have ended and prints events meanwhile. Fails if a job failed.
  Result<void> wait_for_jobs(std::size_t ended);
  Result<void> wait_for_no_instances();
  Result<void> fetch(const std::string& id, const std::filesystem::path& to);
  Result<std::string> standard_output(const std::string& id);
  /// Destroys the remaining instances and stops the daemon; also removes the folder if
  /// `remove_folder`.
  Result<void> stop(bool remove_folder);

 private:
  DemoSite() = default;
  Result<void> write_config() const;
  Result<void> follow(bool (*is_done)(const DemoSite&, std::size_t), std::size_t wanted);
  void on_record(json::Value record);
  void on_job_event(const std::string& job, model::Event event, const std::string& reason);
  void on_instance_event(const std::string& instance, model::Event event, const std::string& code,
                         const std::string& reason);
  /// With the time since the start, and the numbers of hosts and jobs.
  void print_line(const std::string& text) const;

  std::filesystem::path folder_;
  pid_t daemon_ = -1;
  std::unique_ptr<Client> client_;
  std::chrono::steady_clock::time_point began_;
  std::uint64_t last_revision_ = 0;  ///< Of the last event that was handled.
  std::set<std::string> instances_, waiting_, running_;
  std::size_t ended_ = 0;
  std::string failure_;  ///< The first job that failed, and why.
};

}  // namespace hostler::cli
