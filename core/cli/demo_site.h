#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "core/cli/commands.h"

namespace hostler::cli {

/// A daemon of the demo's own in a scratch folder, with the local driver, watched through its event
/// stream. Ctrl-C ends whatever waits with an error; stop() then clears up as after any failure.
class DemoSite {
 public:
  static Result<std::unique_ptr<DemoSite>> make();
  ~DemoSite();
  DemoSite(const DemoSite&) = delete;
  DemoSite& operator=(const DemoSite&) = delete;

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  Result<void> start();
  Result<std::string> submit(const SubmitOptions& job);
  /// Until so many jobs have ended, telling what happens meanwhile. An error if one failed.
  Result<void> wait_for_jobs(std::size_t ended);
  Result<void> wait_for_no_instances();
  Result<void> fetch(const std::string& id, const std::filesystem::path& to);
  Result<std::string> standard_output(const std::string& id);
  /// Destroys what instances are left, ends the daemon, and removes the folder if `tidy`.
  Result<void> stop(bool tidy);

 private:
  DemoSite() = default;
  Result<void> write_config() const;
  Result<void> follow(bool (*enough)(const DemoSite&, std::size_t), std::size_t wanted);
  void tell(json::Value record);
  void say(const std::string& what) const;

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
