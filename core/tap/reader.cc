#include "core/tap/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/json/reader.h"

namespace hostler::tap {
namespace {

constexpr std::uint64_t kLinesMax = 10'000'000;
constexpr std::int64_t kUsMax = std::int64_t{10} * 365 * 24 * 3600 * 1'000'000;  ///< Ten years.
constexpr std::int64_t kCallsMax = 1'000'000'000'000;
constexpr std::size_t kRecordsMax = 10'000;
constexpr json::TextRule kName{.bytes_max = 63, .bytes_min = 1, .one_line = true};
constexpr std::size_t kPieceBytes = 4 * kLineBytesMax;

/// What a line has beside the values that are read here, and that its users look into.
void read_object_member(const json::Field& field) {
  if (field.present() && !field.value()->is(json::Kind::kObject)) field.refuse("an object");
}

void read_status(const json::Field& field, std::string& out) {
  const auto is_word = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  if (field.text(out, kName) && !std::ranges::all_of(out, is_word))
    field.refuse("\"ok\" or the class of an error, such as \"capacity\"");
}

void read_function(const json::Field& field, Function& out) {
  std::string name;
  if (!field.text(name, kName)) return;
  const auto* const found = std::ranges::find(kFunctionNames, name);
  if (found == kFunctionNames.end())
    field.refuse("a call that this hostler knows, such as \"create\"");
  else
    out = static_cast<Function>(found - kFunctionNames.begin());
}

}  // namespace

Error LineReader::error(const std::string& text) const {
  return {Errc::kInvalidArgument, name_ + ", line " + std::to_string(line_ + 1) + ": " + text, {}};
}

Result<Line> LineReader::read(std::string_view line) {
  if (line_ >= kLinesMax)
    return tl::unexpected(error("a recording has at most " + std::to_string(kLinesMax) + " lines"));
  if (line.size() >= kLineBytesMax)
    return tl::unexpected(
        error("it is longer than " + std::to_string(kLineBytesMax) + " bytes, which no line is"));
  auto parsed = json::Document::parse(line, {.bytes_max = kLineBytesMax});
  if (!parsed) return tl::unexpected(error(parsed.error().message));
  const json::Value root = parsed->root();
  const bool is_session = root.has("recording");
  if (!is_session && !in_session_)
    return tl::unexpected(error(line_ == 0
                                    ? "no recording begins so, but with {\"recording\":1,...}"
                                    : "a session has ended: {\"recording\":1,...} is "
                                      "allowed here, which begins another"));
  auto out = is_session        ? read_session(*parsed)
             : root.has("end") ? read_end(*parsed)
                               : read_call(*parsed);
  if (out) ++line_;
  return out;
}

Result<Line> LineReader::read_session(const json::Document& line) {
  Session out;
  json::Problems problems;
  json::Field(line.root(), problems).object([&](json::Object& o) {
    std::int64_t version = 0;
    const json::Field its = o.need("recording");
    if (its.integer(version, 1, INT32_MAX) && version != kVersion)
      its.refuse(std::to_string(kVersion) + "; another hostler has written it");
    o.need("set").text(out.set, kName);
    o.need("driver").text(out.driver, kName);
    std::string began;
    const json::Field time = o.need("began");
    if (time.text(began, kName)) {
      const auto parsed = parse_wall(began);
      if (parsed) out.began = *parsed;
      if (!parsed) time.refuse("a time such as \"2026-03-01T12:00:00Z\"");
    }
    if (line_ > 0 && problems.ok() && out.set != set_)
      o.need("set").problem("found \"" + printable(out.set, 63) + "\", allowed: \"" + set_ +
                            "\", the set that the recording began with");
  });
  if (auto good = problems.result(); !good) return tl::unexpected(error(good.error().message));
  set_ = out.set;
  in_session_ = true;
  number_ = 0;
  last_end_ = {};
  return Line(std::move(out));
}

Result<Line> LineReader::read_call(const json::Document& line) {
  Call out(line);
  json::Problems problems;
  std::vector<std::string> unknown;
  json::Field(line.root(), problems).object([&](json::Object& o) {
    o.tolerate_unknown(unknown);
    const json::Field number = o.need("n");
    if (number.integer(out.number, 1, kCallsMax) && out.number <= number_)
      number.problem("found call " + std::to_string(out.number) + " after call " +
                     std::to_string(number_) +
                     ", allowed: greater numbers; a line may be there a second time");
    std::string set;
    const json::Field its_set = o.need("set");
    if (its_set.text(set, kName) && set != set_) its_set.refuse("\"" + set_ + "\"");
    std::int64_t start = 0, took = 0;
    o.need("start_us").integer(start, 0, kUsMax);
    const json::Field duration = o.need("took_us");
    duration.integer(took, 0, kUsMax);
    out.start = std::chrono::microseconds(start), out.took = std::chrono::microseconds(took);
    if (problems.ok() && out.end() < last_end_)
      duration.problem("the call ends " + exact_duration(out.end()) +
                       " after the beginning, and the call before it " + exact_duration(last_end_) +
                       ": allowed are calls in the order of their ends");
    read_function(o.need("call"), out.function);
    read_status(o.need("status"), out.status);
    read_object_member(o.need("request"));
    read_object_member(out.ok() ? o.may("error") : o.need("error"));
    o.need("records").each(kRecordsMax, read_object_member);
    std::vector<std::string> gone;
    o.may("gone").texts(gone, kRecordsMax);
  });
  if (auto good = problems.result(); !good) return tl::unexpected(error(good.error().message));
  missing_ += out.number - number_ - 1;
  number_ = out.number;
  last_end_ = out.end();
  return Line(std::move(out));
}

Result<Line> LineReader::read_end(const json::Document& line) {
  End out;
  json::Problems problems;
  std::uint64_t calls = 0;
  json::Field(line.root(), problems).object([&](json::Object& o) {
    o.need("end").text(out.why, kName);
    const json::Field count = o.need("calls");
    if (count.integer(calls, 0, kCallsMax) && calls < number_)
      count.refuse("at least " + std::to_string(number_) + ", the number of the last call");
  });
  if (auto good = problems.result(); !good) return tl::unexpected(error(good.error().message));
  missing_ += calls - number_;
  in_session_ = false;
  return Line(std::move(out));
}

std::optional<model::Micros> money_of(const json::Value& object, std::string_view member) {
  constexpr std::int64_t kMost = 1'000'000'000'000;  // a million per hour
  if (!object.has(member)) return std::nullopt;
  json::Problems problems;
  model::Micros out;
  const bool good = json::Field(object.at(member), problems).millionths(out.value, 0, kMost);
  return good ? std::optional(out) : std::nullopt;
}

model::Market market_of(const json::Value& object) {
  return object.at("market").text_or("") == "spot" ? model::Market::kSpot
                                                   : model::Market::kOnDemand;
}

// ---- whole recordings --------------------------------------------------------------------------

namespace {

/// Takes a recording in pieces of any size.
class Pieces {
 public:
  Pieces(const std::string& name, const std::function<Result<void>(Line)>& each)
      : reader_(name), each_(each) {}

  Result<void> add(std::string_view piece) {
    for (auto end = piece.find('\n'); end != piece.npos; end = piece.find('\n')) {
      rest_ += piece.substr(0, end);
      piece.remove_prefix(end + 1);
      HOSTLER_TRY(take(std::exchange(rest_, {})));
    }
    rest_ += piece.substr(0, kLineBytesMax + 1 - std::min(rest_.size(), kLineBytesMax + 1));
    if (rest_.size() > kLineBytesMax) HOSTLER_TRY(take(rest_));
    return {};
  }

  Result<Summary> finish() {
    if (!rest_.empty())
      return tl::unexpected(reader_.error(
          "it is cut: a newline ends each line; remove what is after the last newline"));
    if (!began_) return tl::unexpected(reader_.error("the recording is empty"));
    summary_.missing = reader_.missing();
    return summary_;
  }

 private:
  Result<void> take(const std::string& text) {
    auto line = HOSTLER_TRY(reader_.read(text));
    summary_.ended = std::holds_alternative<End>(line);
    if (std::holds_alternative<Call>(line)) ++summary_.calls;
    const auto* session = std::get_if<Session>(&line);
    if (session != nullptr && !std::exchange(began_, true)) summary_.first = *session;
    return each_(std::move(line));
  }

  LineReader reader_;
  const std::function<Result<void>(Line)>& each_;
  std::string rest_;  ///< Of a line that has not ended yet.
  Summary summary_;
  bool began_ = false;
};

}  // namespace

Result<Summary> parse_recording(std::string_view text, const std::string& name,
                                const std::function<Result<void>(Line)>& each) {
  Pieces pieces(name, each);
  HOSTLER_TRY(pieces.add(text));
  return pieces.finish();
}

Result<Summary> read_recording(const std::filesystem::path& file,
                               const std::function<Result<void>(Line)>& each) {
  const std::string name = file.string();
  // Not blocking: a pipe would wait for somebody who writes to it.
  const UniqueFd fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return tl::unexpected(errno_error("open " + name, Errc::kInvalidArgument));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return fail(Errc::kInvalidArgument, name + ": no regular file");
  Pieces pieces(name, each);
  std::string piece(kPieceBytes, '\0');
  for (;;) {
    const auto count = ::read(fd.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return tl::unexpected(errno_error("read " + name));
    if (count == 0) return pieces.finish();
    HOSTLER_TRY(pieces.add(std::string_view(piece).substr(0, static_cast<std::size_t>(count))));
  }
}

}  // namespace hostler::tap
