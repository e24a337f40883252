#include <chrono>
#include <utility>

#include "core/hosts/conversation.h"
#include "core/log/log.h"

/// Starts, each in its turn and after its inputs.
namespace hostler::hosts {
namespace {

constexpr std::size_t kQueuedMax = std::size_t{1} << 20;  // Enough to be busy until it is written.

agent::Start to_start(const model::StartAttempt& command, const std::string& boot_id,
                      const HostSettings& settings) {
  const model::JobSpec& spec = *command.spec;
  agent::Start out;
  out.attempt = command.attempt;
  out.boot_id = boot_id;
  out.sequence = command.sequence;
  out.command = spec.command;
  out.script = spec.script;
  out.env = spec.env;
  out.stdin_text = spec.stdin_text;
  out.inputs = spec.inputs;
  out.outputs = spec.outputs;
  out.time_limit_us = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(spec.time_limit).count());
  out.ram_max = static_cast<std::uint64_t>(spec.needs.ram);
  out.processes_max = settings.processes_max;
  out.output_head_max = settings.output_head_max;
  out.output_tail_max = settings.output_tail_max;
  out.grace_us = settings.kill_grace_us;
  return out;
}

}  // namespace

void Conversation::refuse(const model::StartAttempt& command, const std::string& why) {
  ports_->post({instance_, model::AttemptRefused{command.attempt, why}});
}

void Conversation::start(model::StartAttempt command) {
  if (!ready_ || ended_ || command.connection != connection_)
    return refuse(command, "it was meant for an earlier connection");
  Waiting waiting;
  for (const auto& input : command.spec->inputs) waiting.blobs.push_back(input.sha256);
  waiting.command = std::move(command);
  starts_.push_back(std::move(waiting));
  advance_starts();
  wake_writer();
}

void Conversation::send_start(const model::StartAttempt& command) {
  auto start = to_start(command, boot_id_, *settings_);
  if (const auto sent = client_.start(std::move(start)); !sent)
    refuse(command, sent.error().message);
}

/// Sends starts from the front for as long as their inputs are there and the agent reads.
void Conversation::advance_starts() {
  while (!starts_.empty() && ready_ && !upload_) {
    Waiting& first = starts_.front();
    if (first.cancelled) {
      refuse(first.command, "cancelled before it was sent");
      starts_.pop_front();
      continue;
    }
    if (client_.pending().size() >= kQueuedMax) return;  // The writer calls again.
    if (first.blobs.empty()) {
      send_start(first.command);
      starts_.pop_front();
      continue;
    }
    if (first.asked) return;
    first.asked = true;
    if (const auto asked = client_.blob_query(first.blobs.back()); !asked) {
      refuse(first.command, asked.error().message);
      starts_.pop_front();
      continue;
    }
    return;
  }
}

void Conversation::take(const agent::BlobState& state) {
  if (starts_.empty() || starts_.front().blobs.empty() ||
      starts_.front().blobs.back() != state.sha256)
    return;
  Waiting& first = starts_.front();
  if (state.present) {
    upload_.reset();
    first.blobs.pop_back();
    first.asked = false;
  } else if (!state.problem.empty()) {
    // Each piece that was under way behind a refused one is answered too.
    if (!upload_) return;
    upload_.reset();
    model::AttemptEnd end;
    end.reason = model::EndReason::kInputFailed;
    end.text = "blob " + state.sha256 + ": " + state.problem;
    post(model::AttemptExited{first.command.attempt, std::move(end)});
    starts_.pop_front();
  } else if (first.asked && !upload_) {
    upload_ = Upload{.sha256 = state.sha256};
    continue_upload();
  }
}

void Conversation::continue_upload() {
  // The whole blob is queued piece by piece; the writer's back-pressure bounds what is pending.
  while (upload_ && !upload_->all_sent && client_.pending().size() < kQueuedMax) {
    auto piece = ports_->read_blob(upload_->sha256, upload_->offset);
    if (!piece) {
      model::AttemptEnd end;
      end.reason = model::EndReason::kInputFailed;
      end.text = "blob " + upload_->sha256 + ": " + piece.error().message;
      post(model::AttemptExited{starts_.front().command.attempt, std::move(end)});
      starts_.pop_front();
      upload_.reset();
      return;
    }
    const std::uint64_t length = piece->data.size();
    const agent::BlobPut put{upload_->sha256, piece->size, upload_->offset, std::move(piece->data)};
    if (const auto sent = client_.blob_put(put); !sent) {
      log::warn("host " + instance_.text(), sent.error().message);
      return;
    }
    upload_->offset += length;
    upload_->all_sent = upload_->offset >= put.size;
  }
}

void Conversation::kill(const model::KillAttempt& command) {
  for (Waiting& one : starts_) {
    if (one.command.attempt != command.attempt) continue;
    one.cancelled = true;  // Refused when its turn comes.
    return advance_starts();
  }
  if (const auto sent = client_.kill(command.attempt); !sent)
    log::warn("host " + instance_.text(), sent.error().message);
  wake_writer();
}

}  // namespace hostler::hosts
