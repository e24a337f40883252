#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/agent/client.h"
#include "core/hosts/card_view.h"
#include "core/hosts/host_context.h"

namespace hostler::hosts {

/// Starts that wait to be sent on one conversation. The agent must get their sequence numbers in
/// rising order, so each start waits for the one before it and for the upload of its own inputs.
/// Hosts thread only; reads pieces of blobs from the disk.
class StartQueue {
 public:
  StartQueue(HostContext& host, agent::Client& client, const CardView& cards)
      : host_(host), client_(client), cards_(cards) {}

  /// The boot id that the agent gave; before the first add().
  void set_boot_id(std::string boot_id) { boot_id_ = std::move(boot_id); }
  void add(model::StartAttempt command);
  /// True if the start was still waiting here. It is refused at its turn and never sent.
  bool cancel(model::AttemptId attempt);
  void on_blob_state(const agent::BlobState& state);
  /// Queues uploads and starts with the client as far as its buffer has room. Call it after each
  /// of the above, and when bytes were written.
  void advance();
  /// The conversation has ended: none of those that wait was sent.
  void refuse_all(const std::string& why);

 private:
  struct Waiting {
    model::StartAttempt command;
    std::vector<std::string> blobs;  ///< sha256 of inputs that may be missing on the host.
    bool asked = false;              ///< A query about blobs.back() was sent.
    bool cancelled = false;
  };
  struct Upload {
    std::string sha256;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;  ///< Known once a piece was read.
    bool all_sent = false;   ///< The agent's BlobState is still to come.
  };

  void continue_upload();
  /// True if the first start has left the queue.
  bool advance_first();
  void send(const model::StartAttempt& command);
  /// The first start ends its attempt: an input of it cannot be had.
  void fail_input(const std::string& sha256, const std::string& why);
  /// The host did not take an input of the first start.
  void refuse_input(const std::string& sha256, const std::string& why);

  HostContext& host_;
  agent::Client& client_;
  const CardView& cards_;
  std::string boot_id_;
  std::deque<Waiting> starts_;
  std::optional<Upload> upload_;  ///< Of the first start.
};

}  // namespace hostler::hosts
