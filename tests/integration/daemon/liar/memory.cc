#include "memory.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

namespace hostler::liar {
namespace {

bool is_asked_for(const Saved& instance, const hostler_list_req& request) {
  bool asked = request.n_ids == 0;
  for (std::size_t i = 0; i < request.n_ids; ++i)
    asked = asked || driver::view(request.ids[i]) == instance.id();
  for (std::size_t i = 0; i < request.n_tag_filter; ++i) {
    const hostler_kv& tag = request.tag_filter[i];
    asked = asked && instance.has_tag(driver::view(tag.key), driver::view(tag.value));
  }
  return asked;
}

}  // namespace

std::shared_ptr<Memory> Memory::of(const std::string& folder) {
  static std::mutex mutex;
  static auto* const all = new std::map<std::string, std::shared_ptr<Memory>>;
  const std::lock_guard lock(mutex);
  auto& found = (*all)[folder];
  if (!found) found = std::make_shared<Memory>(folder);
  return found;
}

Lies Memory::lies() {
  const std::lock_guard lock(mutex_);
  Lies lies = Lies::read(folder_ + "/lies");
  for (auto one = told_.begin(); one != told_.end();) {
    const auto& all = lies.all();
    const bool still =
        std::any_of(all.begin(), all.end(), [&](const Lie& lie) { return lie.line == one->first; });
    one = still ? std::next(one) : told_.erase(one);
  }
  if (lies.find("tags") == nullptr) repaired_.clear();
  return lies;
}

void Memory::called(const std::string& line) {
  const std::lock_guard lock(mutex_);
  std::ofstream(folder_ + "/calls", std::ios::app) << line + "\n";
}

void Memory::wait_for_go_on(const hostler_op& op) const {
  while (!std::filesystem::exists(folder_ + "/go-on") && op.is_cancelled(&op) == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

void Memory::hang(std::string_view topic) {
  while (lies().find(topic, "hang") != nullptr)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

bool Memory::tells(const Lie& lie) {
  const std::lock_guard lock(mutex_);
  const std::string times = lie.value("times");
  return times.empty() || told_[lie.line]++ < std::stoi(times);
}

void Memory::make_failed(const Saved& instance) {
  const std::lock_guard lock(mutex_);
  failed_.insert_or_assign(std::string(instance.id()), instance);
}

void Memory::add_failed(const hostler_list_req& request, std::vector<Saved>& seen) {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, instance] : failed_)
    if (is_asked_for(instance, request)) seen.push_back(instance);
}

void Memory::remove_failed(std::string_view id) {
  const std::lock_guard lock(mutex_);
  const auto found = failed_.find(id);
  if (found != failed_.end()) failed_.erase(found);
}

void Memory::repaired(std::string_view id, std::string_view tag) {
  const std::lock_guard lock(mutex_);
  repaired_[std::string(id)].emplace(tag);
}

bool Memory::is_repaired(std::string_view id, std::string_view tag) {
  const std::lock_guard lock(mutex_);
  const auto found = repaired_.find(id);
  return found != repaired_.end() && found->second.find(tag) != found->second.end();
}

void Memory::remember(const std::vector<Saved>& seen) {
  const std::lock_guard lock(mutex_);
  for (const Saved& one : seen) {
    const auto state = one.fields.state;
    const bool ends = state == HOSTLER_STATE_TERMINATING || state == HOSTLER_STATE_GONE;
    if (!ends) last_.insert_or_assign(std::string(one.id()), one);
  }
}

std::vector<Saved> Memory::listed_before() {
  const std::lock_guard lock(mutex_);
  std::vector<Saved> all;
  for (const auto& [id, one] : last_) all.push_back(one);
  return all;
}

bool Memory::is_late(std::string_view id, std::size_t lists) {
  const std::lock_guard lock(mutex_);
  std::size_t& seen = lists_[std::string(id)];
  if (lists == 0) seen = std::numeric_limits<std::size_t>::max();
  if (seen >= lists) return false;
  ++seen;
  return true;
}

}  // namespace hostler::liar
