#include "sdk/check/host/relay.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/text.h"
#include "core/plugin_host/abi_values.h"
#include "core/plugin_host/record_intake.h"
#include "sdk/check/host/relayed_call.h"

namespace hostler::check {
namespace {

constexpr std::size_t kTagsSeenMax = 10'000, kLaterBytes = 64;
constexpr std::uint32_t kLaterMinor = 99;

std::string_view view_of(const hostler_str& s) {
  return s.ptr == nullptr ? std::string_view() : std::string_view(s.ptr, s.len);
}

/// A host of this size, in memory that is never taken back.
const hostler_host* make_host(std::size_t later_bytes) {
  static const auto kLog = [](const hostler_host*, const hostler_log_line* line) {
    const Inside side(Inside::kHost);
    Relay::get().take_line(line);
  };
  hostler_host host{};
  host.abi_major = HOSTLER_ABI_MAJOR;
  host.abi_minor = later_bytes == 0 ? HOSTLER_ABI_MINOR : kLaterMinor;
  host.abi_draft = HOSTLER_ABI_DRAFT;
  host.name = "driver-check";
  host.version = "1";
  host.records_max = plugin_host::kRecordsMax;
  host.record_bytes_max = plugin_host::kRecordBytesMax;
  host.log = kLog;
  host.get_extension = [](const hostler_host*, const char*) -> const void* { return nullptr; };
  auto* const memory = new LentMemory("set_open", later_bytes);
  return memory->lend_struct(host);
}

hostler_status open_set(const hostler_host* /*host*/, const hostler_set_config* config,
                        hostler_op* op, hostler_set** out) {
  Relay& relay = Relay::get();
  LentOp& lent =
      LentOp::lend("set_open", op, relay.pretence(), relay.events(), relay.later_bytes());
  LentMemory memory("set_open", relay.later_bytes());
  relay.findings().enter("set_open");
  hostler_status status = HOSTLER_E_INTERNAL;
  try {
    const auto asked = pretended(*config, relay.pretence());
    status = relay.driver().set_open(relay.host(), lend(memory, asked), lent.op(), out);
  } catch (...) {
    relay.findings().enter(nullptr);
    lent.returned(HOSTLER_E_INTERNAL);
    throw;
  }
  relay.findings().enter(nullptr);
  lent.returned(status);
  if (status == HOSTLER_OK) relay.open_began();
  return status;
}

void close_set(hostler_set* set) {
  Relay& relay = Relay::get();
  relay.close_began();
  relay.findings().enter("set_close");
  try {
    relay.driver().set_close(set);
  } catch (...) {  // NOLINT(bugprone-empty-catch): what it is, the driver alone knows
    relay.findings().fail("R45", "set_close", "an exception left the function");
  }
  relay.findings().enter(nullptr);
  relay.close_ended();
}

hostler_driver relay_table(const hostler_driver& real) {
  hostler_driver table = real;
  table.set_open = &open_set;
  table.set_close = &close_set;
  table.set_info = [](hostler_set* s, const hostler_set_info_req* r, hostler_op* op) {
    return relayed("set_info", s, r, op, Relay::get().driver().set_info);
  };
  table.create = [](hostler_set* s, const hostler_create_req* r, hostler_op* op) {
    return relayed("create", s, r, op, Relay::get().driver().create);
  };
  table.list = [](hostler_set* s, const hostler_list_req* r, hostler_op* op) {
    return relayed("list", s, r, op, Relay::get().driver().list);
  };
  table.destroy = [](hostler_set* s, const hostler_destroy_req* r, hostler_op* op) {
    return relayed("destroy", s, r, op, Relay::get().driver().destroy);
  };
  table.set_tags = [](hostler_set* s, const hostler_set_tags_req* r, hostler_op* op) {
    return relayed("set_tags", s, r, op, Relay::get().driver().set_tags);
  };
  table.get_extension = &relayed_extension;
  return table;
}

}  // namespace

Relay::Relay() {
  events_.on_record = [this](const hostler_rec& record) { take_record(record); };
  events_.on_text = [this](const char* call, const char* text, std::size_t size) {
    look_at(call, "an error text", {text, size});
  };
  events_.on_fault = [this](const char* rule, const char* call, const char* what) {
    findings_->fail(rule, call, what);
  };
}

Relay& Relay::get() {
  static auto* const relay = new Relay;  // drivers may use it until the process ends
  return *relay;
}

Result<std::shared_ptr<const plugin_host::DriverLibrary>> Relay::load(
    const std::filesystem::path& file, Findings& findings, std::vector<std::string> secrets) {
  findings_ = &findings;
  secrets_ = std::move(secrets);
  findings.enter("load");
  real_ = HOSTLER_TRY(plugin_host::DriverLibrary::load_unpinned(file));
  findings.enter(nullptr);
  host_ = make_host(0);
  return std::make_shared<const plugin_host::DriverLibrary>(file, relay_table(driver()));
}

void Relay::be_later_host() {
  later_bytes_ = kLaterBytes;
  host_ = make_host(kLaterBytes);
}

bool Relay::is_go() const {
  return driver().runtime != nullptr && std::string_view(driver().runtime) == "go";
}

bool Relay::has(const char* extension) const {
  return driver().get_extension(extension) != nullptr;
}

std::vector<SeenTags> Relay::take_tags() {
  const MutexLock lock(mutex_);
  return std::exchange(tags_, {});
}

void Relay::look_at(const char* call, const char* where, std::string_view text) {
  for (const auto& secret : secrets_)
    if (text.find(secret) != std::string_view::npos)
      findings_->fail("R42", call, std::string("a credential is in ") + where);
}

void Relay::check_info(const hostler_set_info& info) {
  constexpr std::uint64_t kCapabilities = HOSTLER_CAP_USER_DATA_GZIP * 2 - 1;
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
  if (opens_ == 0 && line.set != nullptr)
    findings_->fail("R37", "log", "wrote a line about a set after it was closed");
  look_at("log", "the log", text);
}

}  // namespace hostler::check
