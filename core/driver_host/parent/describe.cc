#include "core/driver_host/parent/describe.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/driver_host/parent/child_process.h"
#include "core/driver_host/parent/output_lines.h"
#include "core/driver_host/wire/limits.h"
#include "core/driver_host/wire/messages.h"
#include "core/plugin_host/driver_facts.h"

namespace hostler::driver_host {
namespace {

using std::chrono::steady_clock;

/// The process that loads one library, until it has said what it is.
class Question {
 public:
  explicit Question(ChildProcess& process) : process_(process) {}

  /// Waits for the answer. An error says how the process has ended, or that it has not answered.
  Result<Hello> wait(Duration patience) {
    const auto until = steady_clock::now() + patience;
    while (!hello_ && !has_ended_) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now()).count();
      if (left <= 0)
        return fail(Errc::kMisbehaving,
                    "it hangs: it was not loaded within " + format_duration(patience) + said());
      std::array<pollfd, 2> polled{
          {{process_.frames_fd(), POLLIN, 0}, {process_.output_fd(), POLLIN, 0}}};
      (void)::poll(polled.data(), polled.size(), static_cast<int>(left));
      if (polled[1].revents != 0) read_output();
      if (polled[0].revents != 0) read_frames();
    }
    if (hello_) return *std::move(hello_);
    if (!failure_.empty()) return fail(Errc::kInvalidArgument, failure_ + said());
    read_output();
    process_.kill();
    return fail(Errc::kMisbehaving, how_it_ended() + said());
  }

 private:
  void read_output() {
    std::string bytes;
    (void)process_.read_output(bytes);
    (void)output_.add(bytes, steady_clock::now());
  }

  void read_frames() {
    const auto received = process_.receive(buffer_);
    if (received.what == Received::What::kClosed) has_ended_ = true;
    if (received.what != Received::What::kMessage) return;
    std::string_view message(buffer_.data(), received.size);
    while (const auto frame = next_frame(message)) {
      if (frame->head.type == FrameType::kHello) hello_ = read_hello(frame->body);
      if (frame->head.type == FrameType::kFailed) failure_ = printable(frame->body, 1000);
      if (frame->head.type != FrameType::kCrashed) continue;
      crash_ = read_crash(frame->body);
      was_in_entry_ = (frame->head.flags & kInEntry) != 0;
    }
  }

  std::string how_it_ended() {
    std::string how = process_.reap().how;
    if (crash_ && crash_->signal == 0)
      how = "was ended by exit(" + std::to_string(crash_->exit_status) + ")";
    const char* const where = was_in_entry_ ? "in its entry function, " HOSTLER_DRIVER_ENTRY
                                            : "before it had said what it is";
    return "it crashed " + std::string(where) + ": its process " + how +
           "; its environment has only " + names_of_environment() +
           ": a driver reads its settings in set_open";
  }

  static std::string names_of_environment() {
    std::string out;
    for (const auto& variable : driver_environment())
      out += (out.empty() ? "" : ", ") + variable.substr(0, variable.find('='));
    return out;
  }

  [[nodiscard]] std::string said() const {
    return output_.last().empty() ? "" : "; it wrote: " + output_.last();
  }

  ChildProcess& process_;
  std::string buffer_ = std::string(kDatagramMax + sizeof(FrameHead), '\0');
  OutputLines output_;
  std::optional<Hello> hello_;
  std::optional<Crash> crash_;
  std::string failure_;
  bool was_in_entry_ = false, has_ended_ = false;
};

}  // namespace

std::string find_program(const std::filesystem::path& folder) {
  constexpr const char* kName = "hostler-driver-host";
  std::error_code problem;
  if (auto beside = folder / kName; std::filesystem::exists(beside, problem)) return beside;
  return (folder / "../lib/hostler" / kName).lexically_normal();
}

Result<plugin_host::Manifest> describe_library(const std::string& program,
                                               const std::filesystem::path& library,
                                               const std::vector<std::filesystem::path>& files,
                                               Duration patience) {
  const auto file = HOSTLER_TRY(plugin_host::open_untrusted_library(library, files));
  HOSTLER_TRY(plugin_host::check_elf(file));
  const auto process =
      HOSTLER_TRY(ChildProcess::start(1, {.program = program, .sandbox = {}}, file));
  auto hello = Question(*process).wait(patience);
  if (!hello)
    return tl::unexpected(
        std::move(hello).error().with_context("driver library " + library.string()));
  if (hello->wire_version != kWireVersion)
    return fail(Errc::kConflict, program + " is of another version of hostler");
  if (!is_name(hello->name))
    return fail(Errc::kMisbehaving, "driver library " + library.string() + ": it has no name");
  const auto fit = [](const std::string& text) { return printable(text, 255); };
  return plugin_host::make_manifest(file, {.name = hello->name,
                                           .version = fit(hello->version),
                                           .vendor = fit(hello->vendor),
                                           .license = fit(hello->license),
                                           .runtime = fit(hello->runtime),
                                           .config_schema_json = hello->config_schema_json,
                                           .min_host_minor = hello->min_host_minor,
                                           .extensions = hello->extensions});
}

}  // namespace hostler::driver_host
