#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "core/agent/host/server/card_files.h"
#include "core/agent/host/server/card_tool.h"
#include "core/agent/host/server/host_command.h"
#include "core/agent/protocol.h"

namespace hostler::agent {

/// Reads the cards of this host: at once after configure(), and each minute from then on. Never two
/// readings at once, even where a tool cannot be killed: that one has failed, and the next begins
/// when it is gone. Times are boottime in us. Called by the server's loop; does not block, except
/// for the start of a tool.
class CardReader {
 public:
  /// `folders`: where tools are looked for, as PATH has it.
  explicit CardReader(CardRoots roots = {}, std::string folders = card_tool_folders());

  /// Begins anew. A reading that runs is dropped.
  void configure(const Configure& configure, model::CardGuard guard, std::int64_t now);
  /// Reads no more until configure().
  void stop();
  /// Starts what is due, and ends what takes too long.
  void tick(std::int64_t now);
  /// When tick() has to be called next; INT64_MAX: never.
  [[nodiscard]] std::int64_t due() const;
  /// Call it for each child that was reaped, with its wait status. False if it was not the tool.
  bool on_exit(pid_t pid, int status, std::int64_t now);
  /// A reading that is over, once: also one like the one before, so that failures can be counted.
  std::optional<Cards> take();
  /// Adds the process id of a tool that runs.
  void add_pids(std::set<pid_t>& out) const;

 private:
  void begin(std::int64_t now);
  void end(HostCommand::Outcome outcome, std::int64_t now);

  const CardRoots roots_;
  const std::string folders_;
  std::optional<Configure> configured_;  ///< Unset: it is stopped.
  model::CardGuard guard_ = model::CardGuard::kNone;
  Cards::Tool tool_ = Cards::Tool::kNone;  ///< Of the reading that runs.
  HostCommand command_;
  bool is_over_ = false;       ///< The tool that runs counts no more: killed, or of another time.
  std::int64_t next_ = 0;      ///< When the next reading begins.
  std::int64_t end_at_ = 0;    ///< Until then a reading is due though an earlier tool is not gone.
  std::optional<Cards> told_;  ///< For take().
};

}  // namespace hostler::agent
