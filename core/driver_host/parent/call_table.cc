#include "core/driver_host/parent/call_table.h"

#include <algorithm>
#include <map>

#include "core/base/assert.h"
#include "core/plugin_host/calls.h"

namespace hostler::driver_host {

using plugin_host::Operation;

// ---- adding, sending ---------------------------------------------------------------------------

void CallTable::add(Op op) {
  add_waiting(op);
  queue_.push(std::move(op));
}

void CallTable::add_apart(Op op) { add_waiting(std::move(op)); }

CallTable::Id CallTable::add_waiting(Op op) {
  const Id id = ++last_;
  Call& call = calls_[id];
  ids_.emplace(op.get(), id);
  set_due(id, call, op->deadline());
  call.op = std::move(op);
  return id;
}

CallTable::Op CallTable::next(ChildId child) {
  Op op = queue_.next();
  if (op == nullptr) return nullptr;
  Call& call = calls_.at(ids_.at(op.get()));
  set_sent(call, child);
  call.has_slot = true;
  return op;
}

void CallTable::send_apart(const Operation& op, ChildId child) {
  set_sent(calls_.at(id_of(op)), child);
}

void CallTable::set_sent(Call& call, ChildId child) {
  call.phase = Phase::kSent;
  call.sent = std::chrono::steady_clock::now();
  call.child = child;
  ++in_child_[child];
}

void CallTable::set_due(Id id, Call& call, SteadyTime due) {
  dues_.erase({call.due, id});
  call.due = due;
  dues_.emplace(due, id);
}

// ---- questions ---------------------------------------------------------------------------------

CallTable::Id CallTable::id_of(const Operation& op) const {
  const auto found = ids_.find(&op);
  return found == ids_.end() ? 0 : found->second;
}

std::optional<ChildId> CallTable::child_of(const Operation& op) const {
  const auto found = calls_.find(id_of(op));
  if (found == calls_.end() || found->second.phase == Phase::kWaiting) return std::nullopt;
  return found->second.child;
}

CallTable::Op CallTable::find(Id id, ChildId child) const {
  const auto found = calls_.find(id);
  if (found == calls_.end() || found->second.phase == Phase::kWaiting ||
      found->second.child != child)
    return nullptr;
  return found->second.op;
}

std::vector<CallTable::Op> CallTable::waiting() const {
  return select([](const Call& call) { return call.phase == Phase::kWaiting; });
}

std::vector<CallTable::Op> CallTable::in(ChildId child) const {
  return select(
      [&](const Call& call) { return call.phase != Phase::kWaiting && call.child == child; });
}

/// In the order in which they came.
std::vector<CallTable::Op> CallTable::select(const std::function<bool(const Call&)>& which) const {
  std::map<Id, Op> found;
  for (const auto& [id, call] : calls_)
    if (which(call)) found.emplace(id, call.op);
  std::vector<Op> out;
  for (auto& [id, op] : found) out.push_back(std::move(op));
  return out;
}

std::string CallTable::hanging() const {
  std::set<std::string> names;
  for (const auto& [id, call] : calls_)
    if (call.phase == Phase::kHanging) names.insert(call.op->traits().name);
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

std::size_t CallTable::count_hanging() const {
  return static_cast<std::size_t>(
      std::count_if(calls_.begin(), calls_.end(),
                    [](const auto& entry) { return entry.second.phase == Phase::kHanging; }));
}

bool CallTable::is_hanging(const Operation& op) const {
  const auto found = calls_.find(id_of(op));
  return found != calls_.end() && found->second.phase == Phase::kHanging;
}

bool CallTable::has_hanging(ChildId child) const {
  return std::any_of(calls_.begin(), calls_.end(), [&](const auto& entry) {
    return entry.second.phase == Phase::kHanging && entry.second.child == child;
  });
}

std::optional<std::pair<CallTable::Op, SteadyTime>> CallTable::opening() const {
  const Call* first = nullptr;
  for (const auto& [id, call] : calls_) {
    const bool opens = dynamic_cast<const plugin_host::OpenCall*>(call.op.get()) != nullptr ||
                       dynamic_cast<const plugin_host::InfoCall*>(call.op.get()) != nullptr;
    if (opens && call.phase != Phase::kWaiting && (first == nullptr || call.sent < first->sent))
      first = &call;
  }
  if (first == nullptr) return std::nullopt;
  return std::pair(first->op, first->sent);
}

// ---- what the process reports ------------------------------------------------------------------

bool CallTable::free_slot(Id id) {
  const auto found = calls_.find(id);
  if (found == calls_.end() || !found->second.has_slot) return false;
  found->second.has_slot = false;
  queue_.leave(*found->second.op);
  return true;
}

void CallTable::free_slots_of(ChildId child) {
  for (auto& [id, call] : calls_)
    if (call.child == child) free_slot(id);
}

CallTable::Op CallTable::remove(const Operation& op) {
  const Id id = id_of(op);
  HOSTLER_ASSERT(id != 0, "a call is in the table until it is over, and is over once");
  free_slot(id);
  const auto found = calls_.find(id);
  if (found->second.phase == Phase::kWaiting)
    queue_.remove(op);
  else if (const auto child = in_child_.find(found->second.child); --child->second == 0)
    in_child_.erase(child);
  dues_.erase({found->second.due, id});
  Op removed = std::move(found->second.op);
  calls_.erase(found);
  ids_.erase(&op);
  return removed;
}

// ---- time --------------------------------------------------------------------------------------

std::optional<std::pair<CallTable::Op, CallTable::Due>> CallTable::next_due(SteadyTime now) {
  if (dues_.empty() || dues_.begin()->first > now) return std::nullopt;
  const Id id = dues_.begin()->second;
  Call& call = calls_.at(id);
  switch (call.phase) {
    case Phase::kWaiting:
      dues_.erase(dues_.begin());
      return std::pair(call.op, Due::kNotSent);
    case Phase::kSent:
      call.phase = Phase::kCancelled;
      call.cancelled = now;
      set_due(id, call, now + std::min(times_.hang, times_.grace));
      return std::pair(call.op, Due::kCancel);
    case Phase::kCancelled:
      call.phase = Phase::kHanging;
      set_due(id, call, call.cancelled + times_.grace);
      return std::pair(call.op, Due::kHang);
    case Phase::kHanging:
      break;
  }
  dues_.erase(dues_.begin());
  return std::pair(call.op, Due::kAbandon);
}

std::optional<SteadyTime> CallTable::wakes_at() const {
  if (dues_.empty()) return std::nullopt;
  return dues_.begin()->first;
}

void CallTable::expire_all(SteadyTime now) {
  const Duration rest = std::min(times_.hang, times_.grace);
  for (auto& [id, call] : calls_) {
    if (call.phase == Phase::kWaiting) continue;
    if (call.phase == Phase::kSent) {
      set_due(id, call, std::min(call.due, now));
      continue;
    }
    call.cancelled = std::min(call.cancelled, now + rest - times_.grace);
    set_due(id, call, std::min(call.due, now + rest));
  }
}

}  // namespace hostler::driver_host
