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

/// Runs a daemon in a temporary folder, with the local driver, and follows its event stream. After
/// Ctrl-C a call that waits returns an error; stop() then cleans up as after any other failure.
class DemoSite {
 public:
  static Result<std::unique_ptr<DemoSite>> make();
  ~DemoSite();
  DemoSite(const DemoSite&) = delete;
  DemoSite& operator=(const DemoSite&) = delete;

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  Result<void> start();
  Result<std::string> submit(const SubmitOptions& job);
  /// Prints events until `ended` jobs in all have ended. An error if one of them failed.
  Result<void> wait_for_jobs(std::size_t ended);
  Result<void> wait_for_no_instances();
  Result<void> fetch(const std::string& id, const std::filesystem::path& to);
  Result<std::string> standard_output(const std::string& id);
  /// Destroys the remaining instances, ends the daemon, and removes the folder if `tidy`.
  Result<void> stop(bool tidy);

 private:
  DemoSite() = default;
  Result<void> write_config() const;
  Result<void> follow(bool (*enough)(const DemoSite&, std::size_t), std::size_t wanted);
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
  std::uint64_t seen_ = 0;  ///< The event stream's cursor.
  std::set<std::string> instances_, waiting_, running_;
  std::size_t ended_ = 0;
  std::string failure_;
};

}  // namespace hostler::cli
