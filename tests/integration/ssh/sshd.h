#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/temp_folder.h"

namespace hostler::test {

/// A real sshd on loopback with a configuration, keys and home folder of its own. The destructor
/// ends it and all processes that work below its folder. The user who runs the tests is the user
/// who logs in.
class Sshd {
 public:
  struct Options {
    std::vector<std::string> host_keys{"ed25519"};  ///< Their types; restarts keep the files.
    std::string lines;                              ///< Appended to sshd_config.
    std::string bashrc;  ///< The user's start-up file, read when the login shell is bash.
    std::string user_key_type = "ed25519";
    std::string address = "127.0.0.1";
  };
  Sshd() : Sshd(Options()) {}
  explicit Sshd(Options options);
  ~Sshd();
  Sshd(const Sshd&) = delete;
  Sshd& operator=(const Sshd&) = delete;

  [[nodiscard]] const std::string& address() const { return options_.address; }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] const std::filesystem::path& dir() const { return folder_.path(); }
  [[nodiscard]] std::filesystem::path host_key_file() const {
    return dir() / ("host_" + options_.host_keys.front());
  }
  /// "ssh-ed25519 AAAA...": the current content of the file.
  [[nodiscard]] std::string host_key() const;
  [[nodiscard]] std::string user_key() const;
  [[nodiscard]] static std::string user();
  [[nodiscard]] pid_t pid() const { return pid_; }

  void start();  ///< Returns when sshd listens; the port never changes.
  void stop();   ///< Kills sshd and its sessions, but not processes that have left them.

 private:
  void write_config();

  Options options_;
  TempFolder folder_;
  std::uint16_t port_ = 0;
  pid_t pid_ = -1;
};

/// Stops or continues an sshd with the sessions that it has now.
void signal_all(const Sshd& sshd, int number);

/// Kills all processes whose working folder is `folder` or below, until none is left.
void kill_all_in(const std::filesystem::path& folder);

/// Runs `command` with sh and returns what it printed, without the last newline.
std::string shell(const std::string& command);

}  // namespace hostler::test
