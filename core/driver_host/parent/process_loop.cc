#include "core/driver_host/parent/process_loop.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/driver_host/wire/limits.h"
#include "core/log/log.h"
#include "core/plugin_host/host_table.h"

namespace hostler::driver_host {

using std::chrono::steady_clock;

namespace {

/// Of one process, before others are looked at.
constexpr int kMessagesAtOnce = 64;
/// Of the output that a process has left at its end.
constexpr std::size_t kOutputLeftMax = std::size_t{64} << 10;

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;  // clang 14 needs it

timespec time_until(SteadyTime until) {
  using namespace std::chrono;
  const auto left = std::clamp<nanoseconds>(until - steady_clock::now(), 0ns, 60s);
  const auto whole = floor<seconds>(left);
  return {whole.count(), (left - whole).count()};
}

/// Several system calls of a start may say so, and the message is all that is left of their errno.
bool is_out_of_descriptors(const std::string& why) {
  return why.find(std::strerror(EMFILE)) != std::string::npos ||
         why.find(std::strerror(ENFILE)) != std::string::npos;
}

}  // namespace

ProcessLoop::ProcessLoop(std::string driver, plugin_host::LibraryFile library, DriverProcess& set)
    : driver_(std::move(driver)),
      library_(std::move(library)),
      set_(set),
      buffer_(kDatagramMax + sizeof(FrameHead), '\0'),
      thread_([this] { run(); }) {}

ProcessLoop::~ProcessLoop() { thread_.join(); }

void ProcessLoop::run() {
  pthread_setname_np(pthread_self(), "driver-io");
  set_.wakeup().set_waiter();
  const plugin_host::LogAs area(set_.log_area());
  while (true) {
    for (const auto& op : set_.take_results()) op->deliver_result();
    for (const auto& op : set_.take_due(steady_clock::now())) op->run();
    for (const auto& action : set_.next_actions(steady_clock::now())) act(action);
    const auto until = set_.next_look(steady_clock::now());
    if (!until) return;
    poll(*until);
  }
}

void ProcessLoop::act(const Supervisor::Action& action) {
  const auto send = [this](ChildId id, FrameType type) {
    children_.at(id).process->send_control(type, 0, {});
  };
  std::visit(Overloaded{[&](const Supervisor::Start& start) { this->start(start.child); },
                        [&](const Supervisor::Open& open) { set_.take_open(open.child)->run(); },
                        [&](const Supervisor::Ping& ping) { send(ping.child, FrameType::kPing); },
                        [&](const Supervisor::Close& close) {
                          children_.at(close.child).is_closing = true;
                          send(close.child, FrameType::kClose);
                        },
                        [&](const Supervisor::Kill& kill) {
                          Child& child = children_.at(kill.child);
                          if (!kill.why.empty()) child.why_ended = "was killed: " + kill.why;
                          child.process->kill();
                        }},
             action);
}

void ProcessLoop::start(ChildId id) {
  const auto& options = set_.options();
  ProcessCgroups::Place place;
  if (options.cgroups && options.sandbox.level != model::Sandbox::kNone)
    place = options.cgroups->make();
  auto process = ChildProcess::start(
      id, {.program = options.program, .sandbox = options.sandbox, .cgroups = place.folders},
      library_);
  if (!process) {
    std::string why = process.error().message;
    leave_cgroups(place, why);
    return set_.on_not_started(id, why, is_out_of_descriptors(why));
  }
  Child& child = children_[id];
  child.process = *process;
  child.cgroups = std::move(place);
  set_.on_started(*std::move(process));
}

// ---- what the processes send -------------------------------------------------------------------

void ProcessLoop::poll(SteadyTime until) {
  std::vector<pollfd> polled{{set_.wakeup().fd(), POLLIN, 0}};
  std::vector<Child*> of;
  const auto now = steady_clock::now();
  for (auto& [id, child] : children_) {
    const auto frames_wait = child.unasked.waits_until(now);
    const auto output_waits = child.output.waits_until(now);
    for (const auto& wait : {frames_wait, output_waits})
      if (wait) until = std::min(until, *wait);
    const bool writes = child.process->has_backlog();
    const auto events = static_cast<short>((frames_wait ? 0 : POLLIN) | (writes ? POLLOUT : 0));
    polled.push_back({events == 0 ? -1 : child.process->frames_fd(), events, 0});
    polled.push_back({output_waits ? -1 : child.process->output_fd(), POLLIN, 0});
    polled.push_back({child.process->end_fd(), POLLIN, 0});
    of.push_back(&child);
  }
  const timespec timeout = time_until(until);
  if (::ppoll(polled.data(), polled.size(), &timeout, nullptr) <= 0) return;
  if (polled[0].revents != 0) set_.wakeup().clear();
  for (std::size_t i = 0; i < of.size(); ++i) {
    Child& child = *of[i];
    const pollfd* const its = &polled[1 + 3 * i];
    if ((its[0].revents & POLLOUT) != 0) child.process->flush();
    if (its[1].revents != 0) read_output(child);
    child.is_dead = its[2].revents != 0;
    if ((its[0].revents & ~POLLOUT) != 0 || child.is_dead) read_frames(child);
  }
  for (Child* child : of) {
    if (!child->has_ended) continue;
    auto ended = children_.extract(child->process->id());
    on_child_ended(ended.mapped());
  }
}

void ProcessLoop::read_output(Child& child) {
  std::string output;
  child.process->read_output(output);
  log_output(child, output);
}

void ProcessLoop::log_output(Child& child, std::string_view bytes) {
  const auto now = steady_clock::now();
  for (const auto& line : child.output.add(bytes, now))
    log::warn(set_.log_area(), "wrote: " + line);
  if (auto flood = child.output.flood(now); !flood.empty()) set_.on_broken_rule(flood);
}

void ProcessLoop::read_frames(Child& child) {
  for (int i = 0; i < kMessagesAtOnce; ++i) {
    const auto received = child.process->receive(buffer_);
    // A process that the driver has forked may hold the socket: then it is never closed.
    child.has_ended = received.what == Received::What::kClosed ||
                      (received.what == Received::What::kNothing && child.is_dead);
    if (received.what != Received::What::kMessage) return;
    if (child.is_mad) continue;
    std::string_view message(buffer_.data(), received.size);
    while (const auto frame = next_frame(message)) {
      on_frame(child, *frame);
      if (child.is_mad) return;
    }
    if (!message.empty()) return on_nonsense(child);
    const auto now = steady_clock::now();
    if (const auto flood = child.unasked.flood(now); !flood.empty()) set_.on_broken_rule(flood);
    // Somebody waits for the results.
    if (set_.has_results() || (child.unasked.waits_until(now) && !child.is_dead)) return;
  }
}

void ProcessLoop::on_frame(Child& child, const Frame& frame) {
  const ChildId id = child.process->id();
  switch (frame.head.type) {
    case FrameType::kHello:
      return on_hello(child, frame);
    case FrameType::kFailed:
      child.why_ended =
          (child.has_loaded ? "" : "cannot load the driver: ") + printable(frame.body, 1000);
      return;
    case FrameType::kRecord:
      return on_record(child, frame);
    case FrameType::kEnd:
      return on_end(child, frame);
    case FrameType::kReturned:
      if (!set_.on_returned(id, frame.head.call)) child.unasked.add(steady_clock::now());
      return;
    case FrameType::kCrashed:
      child.crash = read_crash(frame.body);
      child.crashed_call = frame.head.call;
      return;
    default:
      return on_unasked(child, frame, steady_clock::now());
  }
}

void ProcessLoop::on_unasked(Child& child, const Frame& frame, SteadyTime now) {
  const ChildId id = child.process->id();
  if (frame.head.type == FrameType::kLog) return on_log_line(child, frame, now);
  child.unasked.add(now);
  switch (frame.head.type) {
    case FrameType::kBrokenRule:
      return set_.on_broken_rule(printable(frame.body, 1000));
    case FrameType::kPong:
      return set_.on_pong(id);
    case FrameType::kOutdated:
      if (!std::exchange(child.is_outdated, true))
        log::info(set_.log_area(),
                  "files that the driver reads have changed: another process takes the new calls");
      return set_.on_outdated(id);
    default:
      return;
  }
}

void ProcessLoop::on_log_line(Child& child, const Frame& frame, SteadyTime now) {
  const auto line = read_log_line(frame.body);
  if (!line) return child.unasked.add(now);
  const auto text = child.unasked.add_line(printable(line->text, 4096), now);
  if (text.empty()) return;
  const auto level = std::min(line->level, static_cast<std::uint32_t>(log::Level::kError));
  log::write(static_cast<log::Level>(level), set_.log_area(), text);
}

void ProcessLoop::on_hello(Child& child, const Frame& frame) {
  // A second one would begin the time that each state of a process has anew.
  if (std::exchange(child.has_loaded, true)) return on_nonsense(child);
  const auto hello = read_hello(frame.body);
  if (hello && hello->wire_version == kWireVersion && hello->name == driver_)
    return set_.on_hello(child.process->id(), *hello);
  child.why_ended =
      !hello ? "has said nothing that can be read"
      : hello->wire_version != kWireVersion
          ? "is of another version of hostler: restart hostlerd"
          : "has loaded the driver '" + printable(hello->name, 80) + "', not '" + driver_ + "'";
  child.process->kill();
}

/// No program of ours sends it: the driver has written to a descriptor or to memory of its process
/// that is not its own.
void ProcessLoop::on_nonsense(Child& child) {
  child.is_mad = true;
  if (child.why_ended.empty())
    child.why_ended =
        "was killed: R44: it has sent what only a driver can have written to a socket "
        "that is not its own";
  child.process->kill();
}

void ProcessLoop::on_record(Child& child, const Frame& frame) {
  const auto find = [&](CallTable::Id call) {
    auto op = set_.find(child.process->id(), call);
    if (op == nullptr) child.unasked.add(steady_clock::now());
    return op;
  };
  if (!child.records.take(frame, find))
    child.process->send_control(FrameType::kCancel, frame.head.call, {});
}

void ProcessLoop::on_end(Child& child, const Frame& frame) {
  child.records.end(frame.head.call);
  const auto op = set_.on_end(child.process->id(), frame.head.call);
  if (op == nullptr) return child.unasked.add(steady_clock::now());
  const auto end = read_end(frame.body);
  if (!end) return on_nonsense(child);
  pass_end(*op, *end);
}

// ---- the end of a process ----------------------------------------------------------------------

void ProcessLoop::leave_cgroups(const ProcessCgroups::Place& place, std::string& how) {
  const auto& cgroups = set_.options().cgroups;
  if (!cgroups || !cgroups->remove(place)) return;
  how += ": its memory has reached the limit of " + format_size(kMemoryMax);
}

void ProcessLoop::on_child_ended(Child& child) {
  child.process->kill();  // its sockets are closed, so it is of no use, whether it runs or not
  std::string rest;
  while (rest.size() < kOutputLeftMax) {
    const std::size_t before = rest.size();
    if (!child.process->read_output(rest) || rest.size() == before) break;
  }
  log_output(child, rest + "\n");  // also a line that it has not ended
  auto [how, signal, is_clean] = child.process->reap();
  leave_cgroups(child.cgroups, how);
  if (child.crash && child.crash->signal == 0)
    how = "was ended by exit(" + std::to_string(child.crash->exit_status) + ")";
  const bool was_told = !child.why_ended.empty();
  if (was_told) how = child.why_ended;
  const auto lost =
      set_.on_exit(child.process->id(), {.how = std::move(how),
                                         .in_call = child.crashed_call,
                                         .in_close = child.is_closing && (child.crash || !is_clean),
                                         .last_output = child.output.last(),
                                         .was_told = was_told,
                                         .was_killed = signal == SIGKILL});
  for (const auto& op : lost.calls) {
    if (op == lost.guilty) op->set_crash(lost.crash);
    if (op->traits().changes_cloud) op->error->flags |= HOSTLER_EF_OUTCOME_UNKNOWN;
    op->report_text(HOSTLER_TEXT_MESSAGE, lost.why.data(), lost.why.size());
    op->report_end(HOSTLER_E_TRANSIENT);
  }
}

}  // namespace hostler::driver_host
