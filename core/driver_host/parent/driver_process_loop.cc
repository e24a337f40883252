// What DriverProcess does on its own thread.
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory_resource>
#include <utility>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/driver_host/parent/driver_process.h"
#include "core/driver_host/wire/decoder.h"
#include "core/driver_host/wire/limits.h"
#include "core/log/log.h"
#include "core/plugin_host/host_table.h"
#include "core/plugin_host/outcome.h"

namespace hostler::driver_host {

using model::CloudErrorClass;
using plugin_host::cloud_error;
using plugin_host::Operation;
using std::chrono::steady_clock;

namespace {

/// Of one process, before others are looked at.
constexpr int kMessagesAtOnce = 64;
/// Between two looks at deadlines, if nothing happens; a call with a later deadline wakes nobody.
constexpr Duration kSleepMax = std::chrono::seconds(10);
/// For an open in a new process, of a set that was open before.
constexpr Duration kReopenTime = std::chrono::seconds(60);

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

template <class Record>
bool emit_as(Operation& op, std::string_view body) {
  std::array<std::byte, 4096> room;
  std::pmr::monotonic_buffer_resource memory(room.data(), room.size());
  Decoder decoder(body, memory);
  const auto record = decoder.growable<Record>();
  if (!decoder.finished()) return op.report_broken_rule("a record that cannot be read"), false;
  return op.emit(&op, reinterpret_cast<const hostler_rec*>(&record)) == 0;
}

/// Passes a record on as if the driver had emitted it here. False if the driver should stop.
bool emit(Operation& op, std::string_view body) {
  struct Begin {
    std::uint32_t size = 0, kind = 0;
  } begin;
  if (body.size() < sizeof begin) return false;
  std::memcpy(&begin, body.data(), sizeof begin);
  switch (begin.kind) {
    case HOSTLER_REC_INSTANCE:
      return emit_as<hostler_instance>(op, body);
    case HOSTLER_REC_SET_INFO:
      return emit_as<hostler_set_info>(op, body);
    case HOSTLER_REC_PRICE:
      return emit_as<hostler_price>(op, body);
    case HOSTLER_REC_QUOTA_GROUP:
      return emit_as<hostler_quota_group>(op, body);
    default:
      return true;
  }
}

int milliseconds_until(SteadyTime until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

}  // namespace

void DriverProcess::run() {
  pthread_setname_np(pthread_self(), "driver-io");
  const plugin_host::LogAs area(area_);
  buffer_.resize(kDatagramMax + sizeof(FrameHead));
  while (true) {
    deliver_results();
    Sendable to_run;
    std::optional<SteadyTime> until;
    {
      const MutexLock lock(mutex_);
      const auto now = steady_clock::now();
      apply_deadlines(now);
      to_run = take_sendable();
    }
    act(steady_clock::now(), to_run);
    for (const auto& op : to_run) op->run();
    {
      const MutexLock lock(mutex_);
      if (stopping_ && calls_.is_empty() && results_.empty() && children_.empty()) return;
      until = results_.empty() ? wakes_at() : steady_clock::now();
      thread_wakes_at_ = *until;
    }
    poll_children(until);
  }
}

std::optional<SteadyTime> DriverProcess::wakes_at() {
  SteadyTime first = steady_clock::now() + kSleepMax;
  for (const auto at : {supervisor_.wakes_at(), calls_.wakes_at()})
    if (at) first = std::min(first, *at);
  return first;
}

void DriverProcess::deliver_results() {
  std::vector<CallTable::Op> results;
  {
    const MutexLock lock(mutex_);
    results.swap(results_);
    for (const auto& [id, process] : processes_) supervisor_.on_idle(id, calls_.in(id).empty());
  }
  for (const auto& op : results) op->deliver_result();
}

// ---- what is due -------------------------------------------------------------------------------

void DriverProcess::apply_deadlines(SteadyTime now) {
  while (auto due = calls_.next_due(now)) {
    auto& [op, what] = *due;
    const auto child = calls_.child_of(*op);
    switch (what) {
      case CallTable::Due::kNotSent:
        op->refuse(cloud_error(CloudErrorClass::kTimeout,
                               supervisor_.current()
                                   ? "not sent: until the deadline the driver had as many calls as "
                                     "it allows at once"
                                   : "not sent: until the deadline no process of the driver was "
                                     "open"));
        if (first_open_ == op) first_open_ = nullptr;
        results_.push_back(calls_.remove(*op));
        break;
      case CallTable::Due::kCancel:
        op->cancel(!stopping_);
        if (const auto found = processes_.find(*child); found != processes_.end())
          found->second->send_control(FrameType::kCancel, calls_.id_of(*op),
                                      stopping_ ? "" : "late");
        break;
      case CallTable::Due::kHang:
        supervisor_.on_hang(*child);
        calls_.free_slots_of(*child);
        break;
      case CallTable::Due::kAbandon:
        if (!op->abandon("R31: still running " + format_duration(options_.grace) +
                         " after it was cancelled; its process is killed"))
          break;  // it has just ended
        supervisor_.on_abandoned(*child, op->traits().name);
        results_.push_back(calls_.remove(*op));
        break;
    }
  }
}

void DriverProcess::act(SteadyTime now, Sendable& to_run) {
  std::vector<Supervisor::Action> actions;
  {
    const MutexLock lock(mutex_);
    actions = supervisor_.next(now);
  }
  for (const auto& action : actions)
    std::visit(
        Overloaded{
            [&](const Supervisor::Start& start) { act(start); },
            [&](const Supervisor::Open& open) { act(open, to_run); },
            [&](const Supervisor::Ping& ping) {
              children_.at(ping.child).process->send_control(FrameType::kPing, ping.child, {});
            },
            [&](const Supervisor::Close& close) {
              children_.at(close.child).process->send_control(FrameType::kClose, 0, {});
            },
            [&](const Supervisor::Kill& kill) {
              Child& child = children_.at(kill.child);
              child.why_ended = "was killed: " + kill.why;
              child.process->kill();
            }},
        action);
}

void DriverProcess::act(const Supervisor::Start& start) {
  auto process = ChildProcess::start(
      start.child,
      {.program = options_.program, .library = library_.path.string(), .sandbox = options_.sandbox},
      library_.fd);
  if (!process) {
    log::error(area_, process.error().message);
    const MutexLock lock(mutex_);
    health_.last_crash = "could not be started: " + process.error().message;
    supervisor_.on_exit(start.child, steady_clock::now());
    if (auto op = std::exchange(first_open_, nullptr)) {
      op->refuse(cloud_error(CloudErrorClass::kTransient, process.error().message));
      results_.push_back(calls_.remove(*op));
    }
    return;
  }
  children_[start.child].process = *process;
  const MutexLock lock(mutex_);
  processes_[start.child] = *std::move(process);
}

void DriverProcess::act(const Supervisor::Open& open, Sendable& to_run) {
  const MutexLock lock(mutex_);
  opening_ = open.child;
  CallTable::Op op = std::exchange(first_open_, nullptr);
  if (op == nullptr) {
    op = make_open_();
    op->set_deadline(steady_clock::now() + kReopenTime);
    calls_.add_apart(op);
  }
  calls_.send_apart(*op, open.child);
  supervisor_.on_idle(open.child, false);
  to_run.push_back(std::move(op));
}

// ---- what the processes send -------------------------------------------------------------------

void DriverProcess::poll_children(std::optional<SteadyTime> until) {
  std::vector<pollfd> polled{{wake_.get(), POLLIN, 0}};
  std::vector<Child*> of;
  for (auto& [id, child] : children_) {
    const auto events =
        static_cast<short>(child.process->has_backlog() ? POLLIN | POLLOUT : POLLIN);
    polled.push_back({child.process->frames_fd(), events, 0});
    polled.push_back({child.process->output_fd(), POLLIN, 0});
    of.push_back(&child);
  }
  if (::poll(polled.data(), polled.size(), milliseconds_until(*until)) <= 0) return;
  if (polled[0].revents != 0) {
    std::uint64_t woken = 0;
    (void)!::read(wake_.get(), &woken, sizeof woken);
  }
  for (std::size_t i = 0; i < of.size(); ++i) {
    Child& child = *of[i];
    if ((polled[1 + 2 * i].revents & POLLOUT) != 0) child.process->flush();
    std::string output;
    if (polled[2 + 2 * i].revents != 0) child.process->read_output(output);
    for (const auto& line : child.output.add(output)) log::warn(area_, "wrote: " + line);
    if (polled[1 + 2 * i].revents != 0) read_frames(child);
  }
  std::vector<Child> ended;
  for (Child* child : of) {
    if (!child->has_ended) continue;
    const ChildId id = child->process->id();
    ended.push_back(std::move(*child));
    children_.erase(id);
  }
  for (Child& child : ended) on_child_ended(child);
}

void DriverProcess::read_frames(Child& child) {
  for (int i = 0; i < kMessagesAtOnce; ++i) {
    const auto received = child.process->receive(buffer_);
    if (received.what == Received::What::kClosed) child.has_ended = true;
    if (received.what != Received::What::kMessage) return;
    std::string_view message(buffer_.data(), received.size);
    while (const auto frame = next_frame(message)) on_frame(child, *frame);
    if (!message.empty()) return child.process->kill();  // no driver of ours, but memory gone wrong
  }
}

void DriverProcess::on_frame(Child& child, const Frame& frame) {
  const ChildId id = child.process->id();
  switch (frame.head.type) {
    case FrameType::kHello:
      return on_hello(child, frame);
    case FrameType::kFailed:
      child.why_ended = "cannot load the driver: " + printable(frame.body, 1000);
      return;
    case FrameType::kRecord:
      return on_record(child, frame);
    case FrameType::kEnd:
      return on_end(child, frame);
    case FrameType::kReturned: {
      const MutexLock lock(mutex_);
      if (calls_.find(frame.head.call, id) != nullptr) calls_.free_slot(frame.head.call);
      return;
    }
    case FrameType::kBrokenRule: {
      const MutexLock lock(mutex_);
      return count_broken_rule(printable(frame.body, 1000));
    }
    case FrameType::kLog:
      if (const auto line = read_log_line(frame.body)) {
        const auto level = std::min(line->level, static_cast<std::uint32_t>(log::Level::kError));
        log::write(static_cast<log::Level>(level), area_, printable(line->text, 4096));
      }
      return;
    case FrameType::kPong: {
      const MutexLock lock(mutex_);
      return supervisor_.on_pong(id, steady_clock::now());
    }
    case FrameType::kCrashed:
      child.crash = read_crash(frame.body);
      child.crashed_call = frame.head.call;
      return;
    default:
      return;
  }
}

void DriverProcess::on_hello(Child& child, const Frame& frame) {
  auto hello = read_hello(frame.body);
  if (!hello || hello->wire_version != kWireVersion || hello->name != driver_) {
    child.why_ended =
        !hello ? "has said nothing that can be read"
        : hello->wire_version != kWireVersion
            ? "is of another version of hostler: restart hostlerd"
            : "has loaded the driver '" + printable(hello->name, 80) + "', not '" + driver_ + "'";
    return child.process->kill();
  }
  child.hello = *std::move(hello);
  connection_->set_extensions(child.hello.extensions);
  const MutexLock lock(mutex_);
  abi_minor_ = child.hello.abi_minor;
  driver_slots_ = std::clamp<std::size_t>(child.hello.max_concurrency, 1, 1024);
  calls_.set_slots(driver_slots_);
  health_.driver_version = printable(child.hello.version, 80);
  health_.sandbox = printable(child.hello.sandbox, 20);
  supervisor_.on_hello(child.process->id(), steady_clock::now());
}

void DriverProcess::on_record(Child& child, const Frame& frame) {
  const CallTable::Id id = frame.head.call;
  const bool more = (frame.head.flags & kMore) != 0;
  // Records of one call come one after another: its operation is looked for once.
  if (record_of_.call != id || record_of_.has_parts || more) {
    const MutexLock lock(mutex_);
    record_of_ = {id, calls_.find(id, child.process->id()), false, {}};
    if (record_of_.op == nullptr) return;
    if (more && !calls_.add_part(id, frame.body))
      return record_of_.op->report_broken_rule("limit: a record that is too long");
    record_of_.has_parts = more;
    if (!more) record_of_.parts = calls_.take_parts(id);
  }
  if (more || record_of_.op == nullptr) return;
  std::string_view whole = frame.body;
  if (!record_of_.parts.empty()) whole = record_of_.parts.append(frame.body);
  if (!emit(*record_of_.op, whole))
    child.process->send_control(FrameType::kCancel, frame.head.call, {});
  record_of_.parts.clear();
}

void DriverProcess::on_end(Child& child, const Frame& frame) {
  std::shared_ptr<Operation> op;
  record_of_ = {};
  {
    const MutexLock lock(mutex_);
    op = calls_.find(frame.head.call, child.process->id());
    if (op == nullptr) return;
    calls_.free_slot(frame.head.call);
  }
  const auto end = read_end(frame.body);
  if (!end) return child.process->kill();
  hostler_error& error = *op->error;
  error.scope = end->scope;
  error.flags = end->flags;
  error.retry_after_ms = end->retry_after_ms;
  error.quota_limit = end->quota_limit;
  error.quota_used = end->quota_used;
  error.provider_status = end->provider_status;
  for (std::size_t field = 0; field < end->texts.size(); ++field)
    if (const auto& text = end->texts[field]; !text.empty())
      error.set_text(&error, static_cast<std::uint32_t>(field), text.data(), text.size());
  if (!end->broken_rule.empty()) op->report_broken_rule(printable(end->broken_rule, 1000));
  op->complete(op.get(), end->status);
}

// ---- the end of a process ----------------------------------------------------------------------

void DriverProcess::on_child_ended(Child& child) {
  const ChildId id = child.process->id();
  record_of_ = {};
  child.process->kill();  // its sockets are closed, so it is of no use, whether it runs or not
  std::string rest;
  while (child.process->read_output(rest) && rest.size() < 65536 && !rest.empty()) {
    for (const auto& line : child.output.add(rest)) log::warn(area_, "wrote: " + line);
    rest.clear();
  }
  std::string how = child.process->reap();
  if (child.crash && child.crash->signal == 0)
    how = "was ended by exit(" + std::to_string(child.crash->exit_status) + ")";
  if (!child.why_ended.empty()) how = child.why_ended;
  std::vector<CallTable::Op> lost;
  {
    const MutexLock lock(mutex_);
    lost = calls_.in(id);
    const auto guilty = calls_.find(child.crashed_call, id);
    if (guilty != nullptr) how += std::string(" in ") + guilty->traits().name;
    if (!child.output.last().empty()) how += "; it wrote: " + child.output.last();
    processes_.erase(id);
    // It has not come to the open that somebody waits for.
    if (auto op = std::exchange(first_open_, nullptr)) lost.push_back(std::move(op));
    const std::size_t before = supervisor_.crashes();
    supervisor_.on_exit(id, steady_clock::now());
    if (supervisor_.crashes() > before || !child.why_ended.empty()) {
      health_.last_crash = how;
      ++health_.crashes;
      log::error(area_, "the driver's process " + how);
    }
  }
  const std::string message = "the driver's process " + how;
  for (const auto& op : lost) {
    hostler_error& error = *op->error;
    if (op->traits().changes_cloud) error.flags |= HOSTLER_EF_OUTCOME_UNKNOWN;
    error.set_text(&error, HOSTLER_TEXT_MESSAGE, message.data(), message.size());
    op->complete(op.get(), HOSTLER_E_TRANSIENT);
  }
}

}  // namespace hostler::driver_host
