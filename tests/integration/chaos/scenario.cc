#include "tests/integration/chaos/scenario.h"

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "core/base/files.h"
#include "core/crypto/hash.h"
#include "core/driver_host/parent/process_set.h"
#include "core/plugin_host/driver_library.h"
#include "hostler/driver.h"

namespace hostler::chaos_table {
namespace {

using namespace std::chrono_literals;
using plugin_host::DriverSet;

constexpr auto kPatience = 60s;
constexpr auto kSoon = 300ms;  // until a call that hangs is cancelled, and until it is given up
constexpr std::size_t kLibraryMax = std::size_t{64} << 20U;
using Answer = std::future<std::string>;
using SetPtr = std::shared_ptr<DriverSet>;

Result<SetPtr> make_set(const Scenario& s, const std::string& name) {
  plugin_host::Manifest manifest;
  manifest.name = s.call == "load" ? "fake_loader" : "fake_chaos";
  manifest.abi_major = HOSTLER_ABI_MAJOR;
  manifest.abi_draft = HOSTLER_ABI_DRAFT;
  manifest.file = s.folder / "manifest";
  manifest.library = s.library;
  manifest.sha256 = crypto::sha256_hex(HOSTLER_TRY(read_file(s.library, kLibraryMax)));
  driver_host::ProcessOptions options;
  options.sandbox.readable = {(s.folder / "gate").string()};
  options.program = HOSTLER_DRIVER_HOST;
  options.set = name;
  options.hang = 50ms;
  options.grace = kSoon;
  return SetPtr(driver_host::make_process_set(
      manifest.name, HOSTLER_TRY(plugin_host::check_library(manifest)), options));
}

std::string text_of(const model::CloudError& error) {
  return error.message + (error.outcome_unknown ? " (outcome unknown)" : "");
}

/// A `done` whose text is in the future: empty after a success.
template <class T>
std::pair<DriverSet::Done<T>, Answer> awaited() {
  auto promise = std::make_shared<std::promise<std::string>>();
  auto answer = promise->get_future();
  return {[promise](model::CloudResult<T> result) {
            promise->set_value(result ? std::string() : text_of(result.error()));
          },
          std::move(answer)};
}

std::string config_of(const Scenario& s, const std::string& word) {
  return R"({"do": ")" + word + R"(", "gate": ")" + (s.folder / "gate").string() + R"("})";
}

Answer open(DriverSet& set, const Scenario& s, const std::string& word, Duration timeout,
            std::uint32_t* calls_max = nullptr) {
  auto [told, answer] = awaited<model::SetInfo>();
  auto done = [told = told, calls_max](const model::CloudResult<model::SetInfo>& info) {
    if (info && calls_max != nullptr) *calls_max = info->max_concurrency;
    told(info);
  };
  plugin_host::SetConfig config;
  config.set_id = "s1";
  config.config_json = config_of(s, word);
  set.open(config, timeout, std::move(done));
  return std::move(answer);
}

model::CreateRequest request() {
  model::CreateRequest request;
  request.idempotency_key = "key-1";
  request.type.name = request.type.provider_type = "small";
  return request;
}

Answer call(DriverSet& set, const std::string& name, Duration timeout) {
  using Nothing = DriverSet::Nothing;
  auto [nothing, done] = awaited<Nothing>();
  if (name == "destroy") return set.destroy({"i-1", "", ""}, timeout, nothing), std::move(done);
  if (name == "set_tags") return set.set_tags({.id = "i-1"}, timeout, nothing), std::move(done);
  if (name == "stop") return set.stop({"i-1", ""}, timeout, nothing), std::move(done);
  if (name == "verify")
    return set.verify_host_key({"i-1", "ssh-ed25519", "blob"}, timeout, nothing), std::move(done);
  if (name == "create") {
    auto [created, answer] = awaited<model::ListedInstance>();
    return set.create(request(), timeout, {}, created), std::move(answer);
  }
  if (name == "history") {
    auto [prices, answer] = awaited<std::vector<model::ZonePrice>>();
    return set.price_history({}, timeout, prices), std::move(answer);
  }
  if (name == "group") {
    auto [group, answer] = awaited<std::string>();
    return set.quota_group(request().type, timeout, group), std::move(answer);
  }
  if (name == "watch")
    return set.watch_interruptions(
               timeout, [](const model::Interruption&) {}, nothing),
           std::move(done);
  if (name == "offerings") {
    auto [offerings, answer] = awaited<std::vector<model::CloudOffering>>();
    return set.offerings({}, timeout, offerings), std::move(answer);
  }
  if (name == "console read") {
    auto [text, answer] = awaited<model::ConsoleText>();
    return set.read_console({.id = "i-1"}, timeout, text), std::move(answer);
  }
  if (name == "leftovers list") {
    auto [leftovers, answer] = awaited<std::vector<model::Leftover>>();
    return set.list_leftovers({}, timeout, leftovers), std::move(answer);
  }
  if (name == "images find") {
    auto [images, answer] = awaited<std::vector<model::Image>>();
    return set.find_images({}, timeout, images), std::move(answer);
  }
  auto [listed, answer] = awaited<std::vector<model::ListedInstance>>();
  return set.list({}, timeout, listed), std::move(answer);
}

/// On a busy machine a short deadline may pass before a call is sent: then it is made again.
std::string answer_of(const std::function<Answer()>& make) {
  std::string text;
  do text = make().get();
  while (text.find("not sent") != std::string::npos);
  return text;
}

bool hangs(const Scenario& s) {
  return s.word.find("hang") == 0 || s.word == "blocking_cancel" || s.word == "ignores_stop";
}

/// How the set is after the call.
std::string state_after(DriverSet& set, const Scenario& s, bool process_was_killed) {
  const std::string failed = call(set, s.call == "list" ? "destroy" : "list", kPatience).get();
  if (!failed.empty()) return "then: " + failed;
  while (process_was_killed && set.health().crashes == 0) std::this_thread::yield();
  return set.health().crashes > 0 ? "a new process takes the next call" : "the set goes on";
}

std::string use(const SetPtr& set, const Scenario& s) {
  const Duration timeout = hangs(s) ? Duration(kSoon) : Duration(kPatience);
  std::uint32_t calls_max = 0;
  std::string failed = answer_of([&] {
    // What hangs at the close, or is called later, does not hang at the open.
    const bool now = s.call == "set_open" || s.call == "set_info" || s.call == "load";
    return open(*set, s, s.call == "load" ? "" : s.word, now ? timeout : Duration(kPatience),
                &calls_max);
  });
  if (!failed.empty()) return "the set does not open: " + failed;
  const bool is_part_of_open = s.call == "set_open" || s.call == "set_info";
  if (!is_part_of_open && s.call != "set_close") {
    failed = answer_of([&] { return call(*set, s.call, timeout); });
  }
  std::string text = failed.empty() ? "the call succeeds" : "the call fails: " + failed;
  if (s.call == "set_info") text += ", with " + std::to_string(calls_max) + " calls at once";
  const bool was_killed = failed.find("its process is killed") != std::string::npos;
  return text + "; " + state_after(*set, s, was_killed);
}

}  // namespace

std::string run(const Scenario& s) {
  if (s.call == "load") {
    const auto set = make_set(s, "bad");
    return set ? use(*set, s) : "the driver is not loaded: " + set.error().message;
  }
  auto other = make_set(s, "good");
  if (!other) return other.error().message;
  std::string suffers = open(**other, s, "", kPatience).get();
  auto set = make_set(s, "bad");
  if (!set) return set.error().message;
  auto used = std::async(std::launch::async, [&] { return use(*set, s); });
  if (suffers.empty()) suffers = call(**other, "list", kPatience).get();
  const std::string text = used.get();
  set->reset();
  if (suffers.empty()) suffers = call(**other, "list", kPatience).get();
  return text + (suffers.empty() ? "" : "; the other set: " + suffers);
}

}  // namespace hostler::chaos_table
