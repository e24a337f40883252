#include "interruptions.h"

#include <chrono>
#include <hostler/driver.hpp>
#include <optional>
#include <sstream>

#include "folder/files.h"

namespace hostler::local {
namespace {

using driver::str;

constexpr std::chrono::milliseconds kLook{50};

std::uint32_t action_of(const std::string& word) {
  if (word == "terminate") return HOSTLER_INTERRUPTION_TERMINATE;
  if (word == "stop") return HOSTLER_INTERRUPTION_STOP;
  if (word == "suspend") return HOSTLER_INTERRUPTION_SUSPEND;
  if (word == "restart") return HOSTLER_INTERRUPTION_RESTART;
  return HOSTLER_INTERRUPTION_NOT_SAID;
}

void emit_notice(hostler_op* op, const std::string& id, const NoticeLine& notice) {
  auto out = driver::interruption_record();
  out.instance_id = str(id);
  out.text = str(notice.text);
  out.interruption_unix_ns = notice.at_unix_ns;
  out.action = notice.action;
  driver::emit(op, out);
}

/// Until the operation is cancelled, or its deadline has passed.
void watch_file(const std::string& path, hostler_op* op) {
  Notices told;
  for (;;) {
    Notices now = read_notices(path);
    for (const auto& [id, notice] : now)
      if (const auto known = told.find(id); known == told.end() || known->second != notice)
        emit_notice(op, id, notice);
    for (const auto& [id, notice] : told)
      if (now.count(id) == 0) emit_notice(op, id, {0, HOSTLER_INTERRUPTION_WITHDRAWN, ""});
    told = std::move(now);
    try {
      driver::pause(op, kLook);
    } catch (const driver::Error&) {
      return;
    }
  }
}

}  // namespace

Notices read_notices(const std::string& path) {
  Notices out;
  const std::optional<std::string> text = read_file(path);
  if (!text) return out;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string id, action;
    std::int64_t seconds = 0;
    constexpr std::int64_t kSecondsMax = 9'000'000'000;
    if (!(words >> id >> seconds >> action) || seconds < 0 || seconds > kSecondsMax) continue;
    NoticeLine notice{seconds * 1'000'000'000, action_of(action), ""};
    std::getline(words >> std::ws, notice.text);
    out[id] = std::move(notice);
  }
  return out;
}

NoticeWatches::~NoticeWatches() {
  for (std::thread& one : threads_) one.join();
}

void NoticeWatches::begin(hostler_op* op) {
  const std::lock_guard<std::mutex> lock(mutex_);
  threads_.emplace_back([path = path_, op] { driver::finish(op, [&] { watch_file(path, op); }); });
}

}  // namespace hostler::local
