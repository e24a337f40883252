#include "core/hosts/start_queue.h"

#include <chrono>
#include <utility>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/log/log.h"

namespace hostler::hosts {
namespace {

/// No more is queued with the client while so many bytes wait to be written: enough to keep the
/// writer busy.
constexpr std::size_t kQueuedMax = std::size_t{1} << 20;

agent::Start to_start(const model::StartAttempt& command, const std::string& boot_id,
                      const HostSettings& settings, const model::PoolPolicy& pool) {
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
  out.interruption_command =
      spec.interruption_command.empty() ? pool.interruption_command : spec.interruption_command;
  out.no_new_privs = pool.no_new_privs;
  out.drop_capabilities = pool.drop_capabilities;
  return out;
}

}  // namespace

void StartQueue::add(model::StartAttempt command) {
  HOSTLER_ASSERT(command.spec != nullptr, "a start that reaches a conversation has its job");
  Waiting waiting;
  for (const auto& input : command.spec->inputs) waiting.blobs.push_back(input.sha256);
  waiting.command = std::move(command);
  starts_.push_back(std::move(waiting));
}

bool StartQueue::cancel(model::AttemptId attempt) {
  for (Waiting& one : starts_) {
    if (one.command.attempt != attempt) continue;
    one.cancelled = true;
    return true;
  }
  return false;
}

void StartQueue::refuse_all(const std::string& why) {
  for (const Waiting& one : starts_) host_.refuse_unsent(one.command.attempt, why);
  starts_.clear();
  upload_.reset();
}

void StartQueue::advance() {
  continue_upload();
  while (!starts_.empty() && !upload_ && client_.pending().size() < kQueuedMax)
    if (!advance_first()) return;
}

bool StartQueue::advance_first() {
  Waiting& first = starts_.front();
  if (first.cancelled) {
    host_.refuse_unsent(first.command.attempt, "cancelled before it was sent");
  } else if (first.blobs.empty()) {
    send(first.command);
  } else {
    if (std::exchange(first.asked, true)) return false;
    const auto asked = client_.blob_query(first.blobs.back());
    if (asked) return false;
    host_.refuse(first.command.attempt, asked.error().message);
  }
  starts_.pop_front();
  return true;
}

void StartQueue::send(const model::StartAttempt& command) {
  auto start = to_start(command, boot_id_, *host_.settings, host_.pool);
  if (const auto equipped = cards_.equip(start, command.cards); !equipped)
    return host_.refuse_unsent(command.attempt, equipped.error().message);
  if (const auto sent = client_.start(std::move(start)); !sent)
    host_.refuse(command.attempt, sent.error().message);
}

void StartQueue::on_blob_state(const agent::BlobState& state) {
  // The agent may send states that nobody asked for.
  if (starts_.empty() || starts_.front().blobs.empty() ||
      starts_.front().blobs.back() != state.sha256)
    return;
  Waiting& first = starts_.front();
  if (state.present) {
    upload_.reset();
    first.blobs.pop_back();
    first.asked = false;
  } else if (!state.problem.empty()) {
    // The agent answers every piece of a refused upload: only the first answer counts.
    if (upload_) refuse_input(state.sha256, state.problem);
  } else if (first.asked && !upload_) {
    upload_ = Upload{.sha256 = state.sha256};
  }
}

/// Queues the whole blob piece by piece.
void StartQueue::continue_upload() {
  while (upload_ && !upload_->all_sent && client_.pending().size() < kQueuedMax) {
    auto piece = host_.ports->read_blob(upload_->sha256, upload_->offset);
    if (!piece) return fail_input(upload_->sha256, piece.error().message);
    const std::uint64_t length = piece->data.size();
    const agent::BlobPut put{upload_->sha256, piece->size, upload_->offset, std::move(piece->data)};
    if (const auto sent = client_.blob_put(put); !sent) {
      log::warn(host_.name(), sent.error().message);
      return;
    }
    upload_->size = put.size;
    upload_->offset += length;
    upload_->all_sent = upload_->offset >= put.size;
  }
}

void StartQueue::refuse_input(const std::string& sha256, const std::string& why) {
  HOSTLER_ASSERT(!starts_.empty() && upload_, "an upload belongs to the first start that waits");
  if (upload_->size > host_.settings->blobs_max) return fail_input(sha256, why);  // on every host
  host_.refuse(starts_.front().command.attempt, "blob " + sha256 + ": " + printable(why));
  starts_.pop_front();
  upload_.reset();
}

void StartQueue::fail_input(const std::string& sha256, const std::string& why) {
  HOSTLER_ASSERT(!starts_.empty(), "an upload belongs to the first start that waits");
  model::AttemptEnd end;
  end.reason = model::EndReason::kInputFailed;
  end.text = "blob " + sha256 + ": " + why;
  host_.report(model::AttemptExited{starts_.front().command.attempt, std::move(end)});
  starts_.pop_front();
  upload_.reset();
}

}  // namespace hostler::hosts
