#pragma once

#include <atomic>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/files.h"

namespace hostler::store {

/// Stands between a store and its PostgreSQL server, and cuts the connection at a COMMIT or
/// falls silent.
class CutProxy {
 public:
  enum class Cut {
    kNever,
    kBeforeCommit,  ///< The server never sees the COMMIT.
    kAfterCommit,   ///< It has committed; the answer does not arrive.
  };

  /// Its socket is in `folder`, the server's in `server_folder`.
  CutProxy(const std::filesystem::path& folder, const std::filesystem::path& server_folder);
  ~CutProxy();
  CutProxy(const CutProxy&) = delete;
  CutProxy& operator=(const CutProxy&) = delete;

  /// At the next COMMIT, once. Then nobody gets through until let_through().
  void cut(Cut where) { cut_ = where; }
  void let_through() { is_shut_ = is_silent_ = false; }
  /// Until let_through() what either says is lost, and nothing ends: as when a cable was pulled.
  void fall_silent() { is_silent_ = true; }
  [[nodiscard]] bool has_cut() const { return cut_ == Cut::kNever; }

 private:
  void accept_all();
  void carry(UniqueFd client);
  /// False: the connection ends here.
  bool to_server(int client, int server, std::string& tail);

  const std::filesystem::path server_;
  UniqueFd listener_, stop_read_, stop_write_;
  std::atomic<Cut> cut_ = Cut::kNever;
  std::atomic<bool> is_shut_ = false, is_silent_ = false;
  std::thread acceptor_;
  std::vector<std::thread> carriers_;  ///< The acceptor's.
};

}  // namespace hostler::store
