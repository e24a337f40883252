#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/base/mutex.h"
#include "core/base/spawn.h"
#include "core/base/time.h"
#include "core/config/credentials.h"
#include "core/model/cloud.h"

namespace hostler::daemon {

/// Reads the credentials of one set again: at each interval, and soon after the cloud has refused
/// them. A thread of its own does it, so that a command that hangs delays no other set.
class CredentialWatch {
 public:
  /// Called on the thread of the watch for each read that failed, that gave other credentials than
  /// the one before, that was the first good one after such that failed, or that was asked for.
  using Renewed = std::function<void(const Result<std::string>& credentials)>;

  /// `known`: what the source gave when the configuration was read; nothing: it is read at once.
  CredentialWatch(config::CredentialSource source, std::optional<std::string> known,
                  Renewed renewed);
  /// Ends a command that runs, and waits for `renewed` if it runs.
  ~CredentialWatch();
  CredentialWatch(const CredentialWatch&) = delete;
  CredentialWatch& operator=(const CredentialWatch&) = delete;

  [[nodiscard]] const config::CredentialSource& source() const { return source_; }
  /// Asks for a read, at once or some seconds after the last one. Any thread; returns at once.
  void read_soon();

 private:
  void run();
  enum class Turn : std::uint8_t { kInterval, kAsked };
  /// Nothing: the watch ends.
  [[nodiscard]] std::optional<Turn> wait_for_turn();
  void tell(const Result<std::string>& read);

  const config::CredentialSource source_;
  const Renewed renewed_;
  std::optional<std::string> last_;  ///< Here and in the next three: of the thread.
  std::uint32_t failures_ = 0;       ///< In a row.
  std::uint32_t asked_ = 0;          ///< Reads in a row that were asked for.
  Duration pause_{};                 ///< Until the next read.
  Pipe stop_;                        ///< Its end for writing is closed to end a command early.
  Mutex mutex_;
  Condition woken_;
  bool wanted_ HOSTLER_GUARDED_BY(mutex_) = false;
  bool stopping_ HOSTLER_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

/// Other credentials may help. Good ones that lack the right to one operation are not meant: a
/// command that makes new ones each time would be run, and its set opened anew, without an end.
[[nodiscard]] bool refuses_credentials(const model::CloudError& error);

/// The watches of all sets whose credentials may change while hostlerd runs: those of a file or a
/// command.
class CredentialWatches {
 public:
  using Renewed = std::function<void(const std::string& set, const Result<std::string>&)>;

  explicit CredentialWatches(Renewed renewed) : renewed_(std::move(renewed)) {}

  struct Watched {
    config::CredentialSource source;
    std::string known;  ///< What it gave when the configuration was read.
  };
  /// Replaces the sources, by the names of their sets. A command is run again. Blocks until reads
  /// that are not wanted any more have ended. One thread at a time.
  void watch(const std::map<std::string, Watched>& sets);
  /// A call of a set has failed. If it was refused for the credentials, they are read again. Any
  /// thread; returns at once.
  void failed(const std::string& set, const model::CloudError& error);
  /// Ends all watches. One thread at a time.
  void stop() { watch({}); }

 private:
  void drop_all_but(const std::map<std::string, Watched>& sets);

  const Renewed renewed_;
  Mutex mutex_;
  std::map<std::string, std::unique_ptr<CredentialWatch>> watches_ HOSTLER_GUARDED_BY(mutex_);
};

}  // namespace hostler::daemon
