#include "sdk/check/host/relay.h"

#include <string_view>
#include <utility>

#include "core/plugin_host/manifest.h"
#include "core/plugin_host/offered_files.h"
#include "core/plugin_host/record_intake.h"
#include "sdk/check/host/relayed_call.h"
#include "sdk/check/kit_descriptors.h"

namespace hostler::check {
namespace {

constexpr std::size_t kLaterBytes = 64;
constexpr std::uint32_t kLaterMinor = 99;

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
  host.get_extension = &plugin_host::extension_of_host;
  auto* const memory = new LentMemory("set_open", later_bytes);
  return memory->lend_struct(host);
}

hostler_status open_set(const hostler_host* /*host*/, const hostler_set_config* config,
                        hostler_op* op, hostler_set** out) {
  Relay& relay = Relay::get();
  relay.open_began();
  try {
    const hostler_status status =
        lend_call("set_open", config, op, [&](const hostler_set_config* lent, hostler_op* lent_op) {
          return relay.driver().set_open(relay.host(), lent, lent_op, out);
        });
    relay.open_ended(status == HOSTLER_OK ? std::optional(*out) : std::nullopt);
    return status;
  } catch (...) {
    relay.open_ended(std::nullopt);
    throw;
  }
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
  relay.close_ended(set);
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

/// What the manifest beside the library names, as hostlerd offers it; once in a process.
Result<void> offer_own_files(const std::filesystem::path& library) {
  static bool are_offered = false;
  auto manifest = library;
  std::error_code none;
  if (!std::filesystem::exists(manifest.replace_extension(".json"), none)) return {};
  if (std::exchange(are_offered, true)) return {};
  auto files =
      HOSTLER_TRY(plugin_host::open_untrusted_library(library, plugin_host::own_files_of(library)));
  for (auto& own : files.own_files) own.fd = kit_copy(own.fd);
  return plugin_host::offer_files(files);
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
  HOSTLER_TRY(offer_own_files(file));
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

std::size_t Relay::opens() const {
  const MutexLock lock(mutex_);
  return open_sets_.size();
}

void Relay::open_began() {
  const MutexLock lock(mutex_);
  ++sets_opening_;
  has_opened_ = true;
}

void Relay::open_ended(std::optional<const hostler_set*> set) {
  const MutexLock lock(mutex_);
  --sets_opening_;
  if (set) open_sets_.insert(*set);
}

void Relay::close_ended(const hostler_set* set) {
  --closes_running_;
  const MutexLock lock(mutex_);
  if (const auto found = open_sets_.find(set); found != open_sets_.end()) open_sets_.erase(found);
}

std::vector<SeenTags> Relay::take_tags() {
  const MutexLock lock(mutex_);
  return std::exchange(tags_, {});
}

}  // namespace hostler::check
