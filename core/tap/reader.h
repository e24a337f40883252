#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/base/error.h"
#include "core/model/offering.h"
#include "core/tap/recording.h"

namespace hostler::tap {

using Line = std::variant<Session, Call, End>;

/// Reads the lines of a recording one after another. Nothing about them is trusted: a recording
/// comes with a report of a bug.
class LineReader {
 public:
  /// `name`: of the file, for errors.
  explicit LineReader(std::string name) : name_(std::move(name)) {}

  /// The next line, without its newline. The error names the file, the line, and what is allowed.
  /// After an error no more lines may be given.
  Result<Line> read(std::string_view line);
  /// For what the file itself is wrong with: at the line that follows.
  [[nodiscard]] Error error(const std::string& text) const;
  /// Calls that are missing in what was read.
  [[nodiscard]] std::uint64_t missing() const { return missing_; }

 private:
  Result<Line> read_session(const json::Document& line);
  Result<Line> read_call(const json::Document& line);
  Result<Line> read_end(const json::Document& line);

  const std::string name_;
  std::uint64_t line_ = 0, number_ = 0, missing_ = 0;
  std::string set_;
  Duration last_end_{};
  bool in_session_ = false;
};

/// The amount of money that this member of a request or a record is; nullopt: none.
[[nodiscard]] std::optional<model::Micros> money_of(const json::Value& object,
                                                    std::string_view member);

/// The market of a request or a record; on demand if it names none.
[[nodiscard]] model::Market market_of(const json::Value& object);

/// What a recording is as a whole.
struct Summary {
  Session first;
  std::uint64_t calls = 0, missing = 0;
  bool ended = false;  ///< The last session has its end mark.
};

/// Reads a recording and gives each line to `each`, whose error ends the reading. The file may be
/// of any size; one line is in memory at a time. Blocks on the file.
Result<Summary> read_recording(const std::filesystem::path& file,
                               const std::function<Result<void>(Line)>& each);
/// The same for a text in memory.
Result<Summary> parse_recording(std::string_view text, const std::string& name,
                                const std::function<Result<void>(Line)>& each);

}  // namespace hostler::tap
