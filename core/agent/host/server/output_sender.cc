#include "core/agent/host/server/output_sender.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/agent/host/attempt/outputs.h"
#include "core/agent/host/attempt/slots.h"
#include "core/agent/host/attempt/spool.h"

namespace hostler::agent {

void OutputSender::add_credit(const Credit& credit, bool has_output) {
  const Key key{credit.attempt, credit.stream};
  const auto [at, is_new] = streams_.try_emplace(key);
  Stream& stream = at->second;
  if (is_new) stream.sent = credit.from;
  stream.until = std::max(stream.until, credit.until);
  if (has_output) enqueue(key, stream);
}

void OutputSender::on_new_output(model::AttemptId attempt) {
  for (auto at = streams_.lower_bound({attempt, 0}); at != streams_.end(); ++at) {
    if (at->first.first != attempt) return;
    enqueue(at->first, at->second);
  }
}

void OutputSender::forget(model::AttemptId attempt) {
  const auto begin = streams_.lower_bound({attempt, 0});
  auto end = begin;
  while (end != streams_.end() && end->first.first == attempt) ++end;
  streams_.erase(begin, end);  // send() skips their entries in turns_
}

void OutputSender::enqueue(const Key& key, Stream& stream) {
  if (stream.queued || stream.lost) return;
  stream.queued = true;
  turns_.push_back(key);
}

void OutputSender::send(AttemptLog& attempts, Connection& connection) {
  while (!turns_.empty() && connection.has_room()) {
    const Key key = turns_.front();
    turns_.pop_front();
    const auto found = streams_.find(key);
    if (found == streams_.end()) continue;
    found->second.queued = false;
    const Attempt* attempt = attempts.find(key.first);
    if (attempt != nullptr && send_piece(key, found->second, *attempt, connection))
      enqueue(key, found->second);
    else
      found->second.fd.reset();
  }
}

bool OutputSender::send_lost(const Key& key, Stream& stream, Connection& connection,
                             std::string text) {
  stream.lost = true;
  connection.send(OutputLost{key.first, key.second, std::move(text)});
  return false;
}

bool OutputSender::send_piece(const Key& key, Stream& stream, const Attempt& attempt,
                              Connection& connection) {
  return key.second < kFirstFile ? send_stream_piece(key, stream, attempt, connection)
                                 : send_file_piece(key, stream, attempt, connection);
}

bool OutputSender::send_stream_piece(const Key& key, Stream& stream, const Attempt& attempt,
                                     Connection& connection) {
  const auto& [id, number] = key;
  if (attempt.end && attempt.end->output_is_inline) return false;
  const SpoolShape shape{attempt.begin.output_head_max, attempt.begin.output_tail_max};
  std::uint64_t limit = shape.head_max;  // while the attempt runs
  if (attempt.end) {
    limit = number == kStdout ? attempt.end->stdout_bytes : attempt.end->stderr_bytes;
    const std::uint64_t next = std::min(limit, shape.next_kept(stream.sent, limit));
    const bool skips = next > stream.sent;  // bytes that are not kept
    stream.until += next - std::min(next, stream.sent);
    stream.sent = std::max(next, stream.sent);
    if (skips && next == limit) return connection.send(Output{id, number, limit, {}}), false;
  }
  const std::uint64_t end = std::min(stream.until, limit);
  if (stream.sent >= end) return false;
  if (!stream.fd) {
    stream.fd.reset(::open(spool_path(id, number).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!stream.fd && !attempt.end && errno == ENOENT) return false;  // no output yet
    if (!stream.fd) return send_lost(key, stream, connection, os_error("open kept output").message);
  }
  const std::uint64_t size = std::min(end - stream.sent, shape.run(stream.sent));
  return send_bytes(key, stream, shape.place(stream.sent), size, !attempt.end, connection);
}

bool OutputSender::send_file_piece(const Key& key, Stream& stream, const Attempt& attempt,
                                   Connection& connection) {
  const auto& [id, number] = key;
  if (!attempt.end || !attempt.end->has_output_files) return false;
  if (!stream.fd) {
    if (files_.first != id) files_ = {id, read_files(id)};
    const std::size_t index = number - kFirstFile;
    if (index >= files_.second.size() || !files_.second[index].problem.empty())
      return send_lost(key, stream, connection, "the output file does not exist");
    stream.fd = open_output(work_path(attempt.begin.slot), files_.second[index].path);
    if (!stream.fd) return send_lost(key, stream, connection, os_error("open output file").message);
    stream.size = files_.second[index].size;
  }
  const std::uint64_t end = std::min(stream.until, stream.size);
  if (stream.sent >= end) return false;
  return send_bytes(key, stream, stream.sent, end - stream.sent, false, connection);
}

/// Sends up to `size` bytes of the file, from position `place` on. `growing`: the file may be
/// shorter, because the job still writes to it.
bool OutputSender::send_bytes(const Key& key, Stream& stream, std::uint64_t place,
                              std::uint64_t size, bool growing, Connection& connection) {
  Output piece{key.first, key.second, stream.sent, {}};
  piece.data.resize(std::min<std::uint64_t>(size, kChunkMax));
  const ssize_t n =
      ::pread(stream.fd.get(), piece.data.data(), piece.data.size(), static_cast<off_t>(place));
  if (n < 0) return send_lost(key, stream, connection, os_error("read").message);
  if (n == 0 && growing) return false;
  if (n == 0) return send_lost(key, stream, connection, "the file on the host has become shorter");
  piece.data.resize(static_cast<std::size_t>(n));
  stream.sent += piece.data.size();
  connection.send(piece);
  return true;
}

}  // namespace hostler::agent
