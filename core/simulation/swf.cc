#include "core/simulation/swf.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/base/files.h"

namespace hostler::simulation {
namespace {

constexpr std::size_t kFields = 18, kLineMax = 4096;
constexpr double kNumberMax = 1e12;
constexpr std::int64_t kKiB = 1024, kRamMax = std::int64_t{1} << 50;
constexpr double kVcpusMax = 1 << 20;

/// The columns of the format that are used.
enum Column : std::size_t {
  kSubmit = 1,
  kRun = 3,
  kUsedProcessors = 4,
  kUsedMemory = 6,  ///< KB of each processor, as kAskedMemory.
  kAskedProcessors = 7,
  kAskedMemory = 9,
  kUser = 11,
};

/// A file, line by line.
class Lines {
 public:
  explicit Lines(UniqueFd fd) : fd_(std::move(fd)) {}

  /// The next line without its end, valid until the next call; nullopt: there are no more.
  Result<std::optional<std::string_view>> next() {
    for (;;) {
      const std::string_view rest(buffer_.data() + from_, to_ - from_);
      const std::size_t end = rest.find('\n');
      if (end == rest.npos && rest.size() >= kLineMax)
        return fail(Errc::kTooLarge, "has more than " + std::to_string(kLineMax) + " bytes");
      if (end != rest.npos || (ended_ && !rest.empty())) {
        from_ += std::min(rest.size(), end) + (end == rest.npos ? 0 : 1);
        return std::optional(rest.substr(0, end));
      }
      if (ended_) return std::optional<std::string_view>();
      HOSTLER_TRY(fill());
    }
  }

 private:
  Result<void> fill() {
    std::memmove(buffer_.data(), buffer_.data() + from_, to_ - from_);
    to_ -= std::exchange(from_, 0);
    const auto count = ::read(fd_.get(), buffer_.data() + to_, buffer_.size() - to_);
    if (count < 0 && errno == EINTR) return {};
    if (count < 0) return tl::unexpected(errno_error("read"));
    ended_ = count == 0;
    to_ += static_cast<std::size_t>(count);
    return {};
  }

  UniqueFd fd_;
  std::array<char, 16 * kLineMax> buffer_{};
  std::size_t from_ = 0, to_ = 0;
  bool ended_ = false;
};

class SwfTrace final : public Source {
 public:
  SwfTrace(const Trace& trace, UniqueFd fd) : trace_(trace), lines_(std::move(fd)) {}

  Result<std::optional<Job>> next() override {
    for (;;) {
      ++line_;
      auto text = lines_.next();
      if (!text) return fail(text.error().code, where() + text.error().message);
      if (!*text) return std::optional<Job>();
      std::string_view line = **text;
      line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t\r")));
      if (line.empty() || line.front() == ';') continue;
      auto job = HOSTLER_TRY(read(line));
      if (job) return job;
      ++skipped_;
    }
  }
  [[nodiscard]] std::uint64_t skipped() const override { return skipped_; }

 private:
  [[nodiscard]] std::string where() const {
    return trace_.file.string() + ", line " + std::to_string(line_) + ": ";
  }

  /// nullopt: the job never ran.
  Result<std::optional<Job>> read(std::string_view line) {
    const auto fields = HOSTLER_TRY(split(line));
    const double processors = first_positive(fields[kAskedProcessors], fields[kUsedProcessors]);
    if (fields[kRun] <= 0 || processors <= 0) return std::optional<Job>();
    if (fields[kSubmit] < last_)
      return fail(Errc::kInvalidArgument, where() + "field 2 (submit time) is " +
                                              number_text(fields[kSubmit]) +
                                              ", less than in the line before: sort the trace");
    last_ = fields[kSubmit];
    if (!first_) first_ = last_;  // Some traces have the time of day.
    const double vcpus = processors * trace_.vcpus_per_processor;
    if (vcpus > kVcpusMax)
      return fail(Errc::kInvalidArgument, where() + "field 8 (processors) is " +
                                              number_text(processors) + ", allowed: up to " +
                                              number_text(kVcpusMax / trace_.vcpus_per_processor));
    Job job;
    job.at = seconds(last_ - *first_);
    job.user = "user-" + number_text(std::max(0.0, fields[kUser]));
    job.runs = seconds(fields[kRun]);
    job.shape.needs = {
        .vcpus = static_cast<std::int32_t>(vcpus), .gpus = 0, .ram = trace_.ram, .scratch = 0};
    const double memory = first_positive(fields[kAskedMemory], fields[kUsedMemory]);
    if (memory > 0)
      job.shape.needs.ram = std::min(
          kRamMax,
          static_cast<std::int64_t>(std::ceil(std::min(1e12, memory * processors))) * kKiB);
    job.shape.restartable = trace_.restartable;
    return std::optional(std::move(job));
  }

  Result<std::array<double, kFields>> split(std::string_view line) {
    std::array<double, kFields> out{};
    const char* at = line.data();
    const char* const end = at + line.size();
    const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    for (std::size_t i = 0; i < kFields; ++i) {
      while (at < end && is_space(*at)) ++at;
      const auto [after, problem] = std::from_chars(at, end, out[i]);
      const bool whole = problem == std::errc() && (after == end || is_space(*after));
      if (!whole || !std::isfinite(out[i]) || std::abs(out[i]) > kNumberMax)
        return fail(Errc::kInvalidArgument,
                    where() + "field " + std::to_string(i + 1) + " of " + std::to_string(kFields) +
                        (at == end ? " is missing" : " is no number up to 1e12"));
      at = after;
    }
    return out;
  }

  static double first_positive(double a, double b) { return a > 0 ? a : b; }
  static Duration seconds(double s) {
    constexpr double kMost = 366.0 * 24 * 3600 * 10;
    return std::chrono::duration_cast<Duration>(
        std::chrono::duration<double>(std::clamp(s, 0.0, kMost)));
  }
  static std::string number_text(double number) {
    return std::to_string(static_cast<std::int64_t>(number));
  }

  const Trace trace_;
  Lines lines_;
  std::uint64_t line_ = 0, skipped_ = 0;
  double last_ = 0;              ///< Submit time.
  std::optional<double> first_;  ///< Of the first job.
};

}  // namespace

Result<std::unique_ptr<Source>> open_trace(const Trace& trace) {
  const auto refuse = [&](const std::string& why) {
    return fail(Errc::kInvalidArgument, trace.file.string() + ": " + why);
  };
  // Not blocking: a pipe would wait for somebody who writes to it.
  UniqueFd fd(::open(trace.file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd)
    return tl::unexpected(errno_error("open " + trace.file.string(), Errc::kInvalidArgument));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return refuse("is no regular file");
  return std::unique_ptr<Source>(std::make_unique<SwfTrace>(trace, std::move(fd)));
}

}  // namespace hostler::simulation
