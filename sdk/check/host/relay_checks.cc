// What the relay looks for in the driver's records, texts and lines of log.
#include <string_view>
#include <utility>

#include "core/base/text.h"
#include "core/plugin_host/abi_values.h"
#include "sdk/check/host/relay.h"

namespace hostler::check {
namespace {

constexpr std::size_t kTagsSeenMax = 10'000, kIdsSeenMax = 10'000;

std::string_view view_of(const hostler_str& s) {
  return s.ptr == nullptr ? std::string_view() : std::string_view(s.ptr, s.len);
}

}  // namespace

void Relay::look_at(const char* call, const char* where, std::string_view text) {
  for (const auto& secret : secrets_)
    if (text.find(secret) != std::string_view::npos)
      findings_->fail("R42", call, std::string("a credential is in ") + where);
}

void Relay::check_info(const hostler_set_info& info) {
  constexpr std::uint64_t kCapabilities = HOSTLER_CAP_USER_DATA_MIME * 2 - 1;
  if (info.max_concurrency > driver().max_concurrency)
    findings_->fail("R35", "set_info",
                    "max_concurrency is " + std::to_string(info.max_concurrency) +
                        ", more than the table's " + std::to_string(driver().max_concurrency));
  if ((info.capabilities & ~kCapabilities) != 0 && driver().abi_minor <= HOSTLER_ABI_MINOR)
    findings_->fail("R9", "set_info", "has capabilities that are not defined");
  if ((info.capabilities & HOSTLER_CAP_STOP) != 0 && !has(HOSTLER_EXT_POWER))
    findings_->fail("R14", "set_info", "claims HOSTLER_CAP_STOP without " HOSTLER_EXT_POWER);
  if (info.list_consistency_ms == 0)
    findings_->warn("", "set_info",
                    "list_consistency_ms is 0: set it to the time that a change may take to be "
                    "listed; without it an instance that is gone counts for a minute more");
}

/// An id names one instance, for ever: that of another key has another one.
void Relay::check_id(const hostler_instance& seen) {
  const std::string id(view_of(seen.id)), key(view_of(seen.idempotency_key));
  if (key.empty()) return;
  const MutexLock lock(mutex_);
  const auto known = keys_of_ids_.find(id);
  if (known == keys_of_ids_.end()) {
    if (keys_of_ids_.size() < kIdsSeenMax) keys_of_ids_.emplace(id, key);
  } else if (known->second != key) {
    findings_->fail("R62", findings_->call_now(),
                    "emitted an instance with an id that one of another key has had");
  }
}

/// The host has checked that its texts can be read.
void Relay::take_record(const hostler_rec& record) {
  if (record.kind > HOSTLER_REC_QUOTA_GROUP && driver().abi_minor <= HOSTLER_ABI_MINOR)
    findings_->fail("R9", findings_->call_now(), "emitted a record of a kind that is not defined");
  if (record.kind == HOSTLER_REC_SET_INFO)
    check_info(reinterpret_cast<const hostler_set_info&>(record));
  if (record.kind != HOSTLER_REC_INSTANCE) return;
  const auto& seen = reinterpret_cast<const hostler_instance&>(record);
  if (driver().abi_minor <= HOSTLER_ABI_MINOR) {
    if (seen.state > HOSTLER_STATE_FAILED)
      findings_->fail("R9", findings_->call_now(), "emitted a state that is not defined");
    if ((seen.flags & ~HOSTLER_INSTANCE_TAGS_UNKNOWN) != 0)
      findings_->fail("R9", findings_->call_now(), "emitted flags that are not defined");
  }
  check_id(seen);
  SeenTags tags{std::string(view_of(seen.id)), {}};
  for (const auto* text : {&seen.id, &seen.state_reason, &seen.state_error, &seen.zone})
    look_at("", "a record", view_of(*text));
  for (std::size_t i = 0; i < seen.n_tags; ++i) {
    tags.tags.emplace_back(view_of(seen.tags[i].key), view_of(seen.tags[i].value));
    look_at("", "a tag", tags.tags.back().second);
  }
  const MutexLock lock(mutex_);
  if (tags_.size() < kTagsSeenMax) tags_.push_back(std::move(tags));
}

void Relay::take_line(const hostler_log_line* from) {
  hostler_log_line line{};
  if (from == nullptr) return findings_->fail("R19", "log", "a line that is a null pointer");
  if (const auto rule = plugin_host::copy_growable(from, line); !rule.empty())
    return findings_->fail("R15", "log", rule);
  if (line.message.len != 0 && line.message.ptr == nullptr)
    return findings_->fail("R19", "log", "a message with a length but no text");
  const auto text = view_of(line.message);
  if (!is_utf8(text)) findings_->fail("R19", "log", "a message that is not UTF-8");
  if (line.op != nullptr && !LentOp::is_live(line.op))
    findings_->fail("R26", "log", "wrote a line about a call that is long over");
  if (const auto why = why_too_late(line); !why.empty()) findings_->fail("R37", "log", why);
  look_at("log", "the log", text);
}

/// What is wrong with a line that comes after set_close; empty: nothing. While a set is opened,
/// nobody else knows what its address will be.
std::string Relay::why_too_late(const hostler_log_line& line) {
  const MutexLock lock(mutex_);
  if (sets_opening_ > 0 || !has_opened_) return {};
  if (open_sets_.empty()) return "wrote a line although no set is open any more";
  if (line.set != nullptr && !open_sets_.contains(line.set))
    return "wrote a line about a set that is not open";
  return {};
}

}  // namespace hostler::check
