#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/base/files.h"
#include "core/crypto/hash.h"
#include "core/crypto/random.h"
#include "core/hosts/hosts.h"
#include "core/ssh/init_script.h"
#include "tests/integration/ssh/sshd.h"

namespace hostler::test {

/// A booted host: a real sshd, the secret of its init script planted.
class BootedHost : public Sshd {
 public:
  BootedHost() : BootedHost(Options()) {}
  explicit BootedHost(const Options& options);
  /// How to reach it, provable by challenge.
  [[nodiscard]] model::HostTarget target(std::uint64_t instance = 7) const;

  std::string secret = crypto::random_hex(32);
};

/// The rest of the daemon as the links see it: keeps events, output and blobs in memory.
class FakeDaemon {
 public:
  explicit FakeDaemon(const Sshd& sshd);

  /// Creates the links. Settings and pool may be changed before.
  void open();
  void close() { hosts_.reset(); }
  void send(model::HostCommand command) { hosts_->send(std::move(command)); }
  /// As a reload of the configuration does.
  void change_pool(const model::PoolPolicy& to) { hosts_->set_pools({{"pool", to}}); }
  /// ConnectHost, then waits for HostReady.
  model::HostReady connect(const model::HostTarget& target);
  /// Starts a script on the host that was ready last; returns the attempt.
  model::AttemptId start(const std::string& script, std::vector<model::Input> inputs = {},
                         std::vector<std::string> outputs = {});

  /// Waits for the next event of this type, and drops the events before it.
  template <class Body>
  Body await() {
    std::unique_lock lock(mutex_);
    std::string passed;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (;;) {
      while (!events_.empty()) {
        model::HostEvent event = std::move(events_.front());
        events_.pop_front();
        if (auto* body = std::get_if<Body>(&event.body)) return std::move(*body);
        if (const auto* not_yet = std::get_if<model::HostNotYet>(&event.body))
          passed += "\n" + not_yet->step + ": " + not_yet->text;
        if (const auto* lost = std::get_if<model::HostLost>(&event.body))
          passed += "\nlost: " + lost->text;
      }
      if (came_.wait_until(lock, deadline) == std::cv_status::timeout)
        throw std::runtime_error("the event did not come; but:" + passed);
    }
  }
  /// The same for a job that is still text: it is the script, or "bad", which is no job.
  model::AttemptId start_body(const std::string& body);
  /// The bytes of a stream that are durable.
  std::string output(model::AttemptId attempt, std::uint32_t stream);
  /// The bytes of all its streams that are durable.
  std::uint64_t kept(model::AttemptId attempt);
  /// Attempts whose list of files has arrived.
  std::set<model::AttemptId> listed() {
    const std::lock_guard lock(mutex_);
    return listed_;
  }
  /// Waits until the jump host has a problem that contains this; empty: until it has none any more.
  void await_jump_host(const std::string& problem);
  /// Waits until at least `size` bytes of the stream have arrived.
  void await_output(model::AttemptId attempt, std::uint32_t stream, std::size_t size);
  /// While held, output is stored but not reported as durable.
  void hold_output(bool hold);
  /// Holds output from the moment that a stream is longer than this.
  void hold_output_beyond(std::size_t size) { hold_beyond_ = size; }

  hosts::HostSettings settings;
  model::PoolPolicy pool;
  std::vector<std::string> cards;            ///< Of jobs that are started from now on.
  std::map<std::string, std::string> blobs;  ///< By sha256. Before open().
  std::atomic<int> blob_reads = 0;
  std::atomic<std::uint64_t> room = std::uint64_t{1} << 40U;  ///< Free bytes on its disk.
  std::optional<bool> driver_says;                            ///< Before open().
  std::optional<Error> refuse_files;                          ///< Before open(): no list is kept.
  std::optional<std::size_t> refuse_beyond;  ///< Before open(): bytes kept of a stream.

 private:
  using Stream = std::pair<model::AttemptId, std::uint32_t>;
  hosts::HostPorts ports();
  void resume(model::InstanceId instance, const model::HostReady& ready);
  /// The next start on the host that was ready last.
  model::StartAttempt next_start();
  void append(Stream stream, std::uint64_t offset, const std::string& data,
              std::function<void(Result<std::uint64_t>)> durable);

  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<model::HostEvent> events_;
  std::map<Stream, std::string> output_;
  std::optional<std::string> jump_problem_;  ///< As it was told last.
  std::vector<std::function<void()>> held_;
  bool hold_ = false;
  std::optional<std::size_t> hold_beyond_;  ///< Before the job that is to be held.
  std::set<model::AttemptId> started_, listed_;
  model::HostReady ready_;
  model::InstanceId instance_;
  std::uint64_t sequence_ = 0, last_job_ = 0;
  std::unique_ptr<hosts::Hosts> hosts_;
};

}  // namespace hostler::test
