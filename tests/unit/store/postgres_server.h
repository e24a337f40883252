#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>

namespace hostler::store {

/// A PostgreSQL server for the tests of this process: Debian's, on a unix socket in a scratch
/// folder, as an ordinary user where the tests run as root. It goes with the process.
class PostgresServer {
 public:
  /// Started by the first call; null if no server is installed. A process that a test starts again
  /// (a death test's) takes that of the one that watches it.
  static PostgresServer* get();
  static constexpr const char* kMissing =
      "no PostgreSQL server is installed (packaging/apt/ci.txt)";

  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  /// The connection string of a database without tables and sessions, the same each time: making a
  /// new one for each test takes longer than the test.
  std::string emptied_database();
  /// A new one.
  std::string new_database(const std::string& options = "");
  /// As the server's admin: statements in the database of `conninfo`; the first value, if any.
  std::string sql(const std::string& conninfo, const std::string& text);
  /// Ends every session of that database but the admin's; how many.
  int end_sessions(const std::string& conninfo);
  /// At once, as by a crash.
  void stop();
  void start();

  /// Where its socket is.
  [[nodiscard]] const std::filesystem::path& socket_folder() const { return folder_; }
  static std::string conninfo(const std::filesystem::path& socket_folder,
                              const std::string& database);

 private:
  explicit PostgresServer(std::filesystem::path programs) : programs_(std::move(programs)) {}
  bool initialise();

  std::filesystem::path programs_, folder_;
  std::string database_;  ///< The one that is emptied; empty: not made yet.
  pid_t pid_ = 0;
  bool ours_ = true;
};

/// The name of the database that `conninfo` (of new_database()) is about.
std::string database_of(const std::string& conninfo);

}  // namespace hostler::store
