#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/time.h"

/// The language of bounds: the numeric part of expr v1.16.0 (github.com/expr-lang/expr), and some
/// functions of our own. Pure.
namespace hostler::expression {

/// A number that an expression is given from outside.
struct Input {
  enum class Kind : std::uint8_t {
    kMetric,   ///< The present value. The rest are:
    kAge,      ///< age(m), in seconds;
    kAvgOver,  ///< avg_over(m, "5m");
    kMaxOver,  ///< max_over(m, "5m");
    kCreated,
    kStarted,
    kIdle,
    kBusy,
    kQueued,   ///< counts of the pool, whole numbers;
    kHour,     ///< hour(zone), 0 to 23;
    kWeekday,  ///< weekday(zone), 1 (Monday) to 7.
  };
  Kind kind{};
  std::string name;   ///< Of the metric, or of the time zone.
  Duration window{};  ///< Of kAvgOver and kMaxOver, above 0.

  [[nodiscard]] bool is_of_metric() const { return kind <= Kind::kMaxOver; }
  friend bool operator==(const Input&, const Input&) = default;
};

/// As texts write it: `age(m)`, `avg_over(m, "5m")`, `hour("Europe/Berlin")`.
[[nodiscard]] std::string to_text(const Input& input);

/// The kind of result that an expression must give.
enum class Wants : std::uint8_t { kNumber, kBoolean };

struct Program;

/// A text that was compiled. A value, cheap to copy; safe to use from several threads at once.
class Expression {
 public:
  /// `metrics`: the names that may be used as metrics. kInvalidArgument: what is wrong, with the
  /// line of the text and a caret below the place. kTooLarge: more than 8 KiB. Further limits: a
  /// depth of 64, 1,000 steps.
  [[nodiscard]] static Result<Expression> compile(std::string_view text,
                                                  std::span<const std::string> metrics,
                                                  Wants wants = Wants::kNumber);

  /// All inputs that the text names, each once, in the order of their first use: also those of
  /// branches that are not taken. If one of them is unknown, so is the result.
  [[nodiscard]] const std::vector<Input>& inputs() const { return inputs_; }

  /// `values`: one for each of inputs(), in this order. Never allocates on success. The result may
  /// be NaN or infinite; a boolean is 0 or 1. kInvalidArgument: what expr refuses at run time, such
  /// as a remainder by zero or a range beyond its budget.
  [[nodiscard]] Result<double> evaluate(std::span<const double> values) const;

 private:
  std::vector<Input> inputs_;
  std::shared_ptr<const Program> program_;  ///< Null: made by no compile().
};

/// True of each name that the language has: a metric must have another one. True of reserved words
/// and of all builtins of expr, too.
[[nodiscard]] bool is_taken(std::string_view name);

}  // namespace hostler::expression
