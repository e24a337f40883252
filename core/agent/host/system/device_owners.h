#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/base/error.h"

namespace hostler::agent {

/// Who may use a device file.
struct FileOwner {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint32_t mode = 0;  ///< Permissions alone, as 0666.
  friend bool operator==(const FileOwner&, const FileOwner&) = default;
};

/// The device files, for DeviceOwners.
class OwnedFiles {
 public:
  virtual ~OwnedFiles() = default;
  /// Unset: there is no character device at this path.
  [[nodiscard]] virtual std::optional<FileOwner> look(const std::string& path) const = 0;
  /// At no moment more users may open the file than before or after.
  virtual Result<void> change(const std::string& path, const FileOwner& owner) = 0;
};
/// Those of this host.
class HostFiles : public OwnedFiles {
 public:
  [[nodiscard]] std::optional<FileOwner> look(const std::string& path) const override;
  Result<void> change(const std::string& path, const FileOwner& owner) override;
};

/// Gives each device file to one user, who alone can open it. A file of the state folder, which is
/// the working directory, keeps who had it before, and is on the disk before anything changes. So
/// what was before comes back also after a crash. Used by the server's one thread.
class DeviceOwners {
 public:
  /// `files` must outlive it.
  explicit DeviceOwners(OwnedFiles& files) : files_(files) {}
  /// Reads what an earlier process has kept.
  void open();

  /// From now on each of these files belongs to its user, with mode 0600; uid 0: to root. Files
  /// that were given before and are not among them get back what they had. Those that are no
  /// character devices are left out. An error names the first file that could not be given.
  Result<void> set(const std::map<std::string, std::uint32_t>& users);
  /// All files get back what they had. What cannot be given back stays kept.
  void give_back() { give_back_others({}); }

 private:
  using Owners = std::map<std::string, FileOwner>;
  void give_back_others(const std::map<std::string, std::uint32_t>& users);
  [[nodiscard]] static Result<void> save(const Owners& kept);

  OwnedFiles& files_;
  Owners before_;  ///< As the file has it.
};

}  // namespace hostler::agent
