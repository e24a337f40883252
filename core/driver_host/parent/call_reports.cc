#include "core/driver_host/parent/call_reports.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <memory_resource>
#include <string_view>
#include <utility>

#include "core/base/text.h"
#include "core/driver_host/wire/decoder.h"
#include "core/driver_host/wire/limits.h"

namespace hostler::driver_host {

using plugin_host::Operation;

namespace {

template <class Record>
bool emit_as(Operation& op, std::string_view body) {
  std::array<std::byte, 4096> room;
  std::pmr::monotonic_buffer_resource memory(room.data(), room.size());
  Decoder decoder(body, memory);
  const auto record = decoder.growable<Record>();
  if (!decoder.finished()) return op.report_broken_rule("a record that cannot be read"), false;
  return op.report_record(reinterpret_cast<const hostler_rec*>(&record));
}

bool emit(Operation& op, std::string_view body) {
  struct Begin {
    std::uint32_t size = 0, kind = 0;
  } begin;
  if (body.size() < sizeof begin) return false;
  std::memcpy(&begin, body.data(), sizeof begin);
  return as_record_of(begin.kind, [&]<class Record>() { return emit_as<Record>(op, body); });
}

}  // namespace

bool RecordReader::take(const Frame& frame, const Find& find) {
  const std::uint64_t call = frame.head.call;
  if (call != last_call_ || last_ == nullptr) {
    last_call_ = call;
    last_ = find(call);
  }
  if (last_ == nullptr) return true;  // the process has heard or will hear that the call is over
  if ((frame.head.flags & kMore) != 0) return keep_part(frame);
  if (parts_.empty()) return emit(*last_, frame.body);
  auto parts = parts_.extract(call);
  if (parts.empty()) return emit(*last_, frame.body);
  return emit(*last_, parts.mapped().append(frame.body));
}

bool RecordReader::keep_part(const Frame& frame) {
  std::string& parts = parts_[frame.head.call];
  if (parts.size() + frame.body.size() > kRecordFramesMax) {
    parts.clear();
    last_->report_broken_rule("limit: a record that is too long");
    return false;
  }
  parts.append(frame.body);
  return true;
}

void RecordReader::end(std::uint64_t call) {
  parts_.erase(call);
  last_ = nullptr;
}

void pass_end(Operation& op, const End& end) {
  hostler_error& error = *op.error;
  error.scope = end.scope;
  error.flags = end.flags;
  error.retry_after_ms = end.retry_after_ms;
  error.quota_limit = end.quota_limit;
  error.quota_used = end.quota_used;
  for (std::size_t field = 0; field < end.texts.size(); ++field)
    if (const auto& text = end.texts[field]; !text.empty())
      op.report_text(static_cast<std::uint32_t>(field), text.data(), text.size());
  if (!end.broken_rule.empty()) op.report_broken_rule(printable(end.broken_rule, 1000));
  op.report_end(end.status);
}

}  // namespace hostler::driver_host
