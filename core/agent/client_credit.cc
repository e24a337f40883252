#include <utility>

#include "core/agent/client.h"

/// Flow control: how far the agent may send each stream, and when an attempt is collected.
namespace hostler::agent {

void Client::durable(model::AttemptId id, std::uint32_t index, std::uint64_t offset) {
  const auto found = attempts_.find(id);
  if (found == attempts_.end() || index >= found->second.streams.size()) return;
  Stream& stream = found->second.streams[index];
  // On a new connection files are sent again from the start, so more may be durable than received.
  offset = std::min(offset, stream.received);
  if (offset <= stream.durable) return;
  stream.durable = offset;
  if (!found->second.held && wants_credit(stream)) give_credit(id, index, stream);
  check_collected(id, found->second);
}

bool Client::hold(model::AttemptId id, bool held) {
  const auto found = attempts_.find(id);
  if (found == attempts_.end()) return false;
  Attempt& attempt = found->second;
  if (!std::exchange(attempt.held, held) || held) return true;
  for (std::uint32_t i = 0; i < attempt.streams.size(); ++i) {
    Stream& stream = attempt.streams[i];
    const bool is_asked_for = i < kFirstFile || stream.until > 0;
    if (is_asked_for && wants_credit(stream)) give_credit(id, i, stream);
  }
  check_collected(id, attempt);
  return true;
}

std::uint64_t Client::not_durable(model::AttemptId id) const {
  const auto found = attempts_.find(id);
  if (found == attempts_.end()) return 0;
  std::uint64_t sum = 0;
  for (const Stream& stream : found->second.streams) sum += stream.received - stream.durable;
  return sum;
}

void Client::files_durable(model::AttemptId id) {
  const auto found = attempts_.find(id);
  if (found == attempts_.end() || !std::exchange(found->second.files_reported, false)) return;
  check_collected(id, found->second);
}

void Client::give_up(model::AttemptId id, std::uint32_t index) {
  const auto found = attempts_.find(id);
  if (found == attempts_.end() || index >= found->second.streams.size()) return;
  Stream& stream = found->second.streams[index];
  stream.lost = true;
  stream.received = stream.durable;
  check_collected(id, found->second);
}

void Client::give_up_files(model::AttemptId id) {
  const auto found = attempts_.find(id);
  if (found == attempts_.end()) return;
  auto& streams = found->second.streams;
  for (std::size_t i = kFirstFile; i < streams.size(); ++i) streams[i].lost = true;
  files_durable(id);
}

void Client::give_credit(model::AttemptId id, std::uint32_t index, Stream& stream) {
  stream.until = stream.durable + window_;
  // A Credit has only numbers, so it can always be encoded.
  (void)encode(Credit{id, index, stream.durable, stream.until}, out_.end());
}

void Client::check_collected(model::AttemptId id, Attempt& attempt) {
  if (!attempt.exited || attempt.files_requested || attempt.files_reported || attempt.collected)
    return;
  for (std::uint32_t i = 0; i < attempt.streams.size(); ++i) {
    Stream& stream = attempt.streams[i];
    if (stream.is_done()) continue;
    // Files are requested one by one, so that a thousand files need a single window.
    if (i >= kFirstFile && stream.until == 0 && !attempt.held) give_credit(id, i, stream);
    return;
  }
  attempt.collected = true;
  events_.emplace_back(Collected{id});
}

}  // namespace hostler::agent
