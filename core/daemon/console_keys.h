#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/mutex.h"
#include "core/base/time.h"
#include "core/crypto/ssh_keys.h"
#include "core/model/cloud.h"
#include "core/model/cloud_records.h"
#include "core/model/host.h"
#include "core/ssh/printed_keys.h"

namespace hostler::daemon {

/// Judges host keys by what new instances print on their consoles, where a driver knows no host
/// keys but reads consoles. Any thread. Links ask at each connection: a console is read every 5 s
/// at first, then up to every minute.
class ConsoleKeys : public std::enable_shared_from_this<ConsoleKeys> {
 public:
  /// As Clouds::read_console().
  using Read = std::function<void(const std::string& set, model::ConsoleQuery,
                                  std::function<void(model::CloudResult<model::ConsoleText>)>)>;
  using Answer = std::function<void(Result<bool>)>;

  ConsoleKeys(Read read, std::function<Mono()> clock)
      : read_(std::move(read)), clock_(std::move(clock)) {}

  /// Calls `answer` once, perhaps on another thread: true if the console has the key, false if it
  /// has another one; an error as long as it has none, where the text is not there from its
  /// beginning, and for an instance that may have run work: whoever runs there can write to the
  /// console.
  void ask(const model::HostTarget& target, const crypto::SshPublicKey& key, const Answer& answer);

 private:
  struct Console {
    std::string provider_id;
    std::vector<ssh::PrintedBlock> blocks;
    Mono next = Mono::min();  ///< When it may be read again.
    Duration pause{};
    bool reading = false;
  };
  void came(const model::HostTarget& target, const crypto::SshPublicKey& key, const Answer& answer,
            const model::CloudResult<model::ConsoleText>& text);
  /// The entry of the instance; old ones of others make room for it.
  Console& entry(const model::HostTarget& target) HOSTLER_REQUIRES(mutex_);

  const Read read_;
  const std::function<Mono()> clock_;
  Mutex mutex_;
  std::map<model::InstanceId, Console> consoles_ HOSTLER_GUARDED_BY(mutex_);
};

}  // namespace hostler::daemon
