#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/assert.h"
#include "core/base/time.h"
#include "core/model/event.h"
#include "core/model/gpus.h"
#include "core/model/ids.h"
#include "core/model/push.h"
#include "core/model/reason.h"
#include "core/store/database.h"

/// The visitors of record_fields.h: one lists the columns, one binds the values of a record to a
/// statement, one reads them back and checks them.
namespace hostler::store {

struct Column {
  enum class Type : std::uint8_t { kNumber, kText };
  std::string_view name;
  Type type;
  friend bool operator==(const Column&, const Column&) = default;
};

/// Names have no comma: it separates them.
std::string join_names(const std::vector<std::string>& names);
std::vector<std::string> split_names(std::string_view text);
/// nullopt: it is no list of at most kCardsMax UUIDs of cards, each once.
std::optional<std::vector<std::string>> parse_cards(std::string_view text);
/// nullopt: it is no JSON array of at most kSupersededMax texts of at most kPushedNameMax bytes.
std::optional<std::vector<std::string>> parse_sessions(std::string_view text);
std::string sessions_text(const std::vector<std::string>& sessions);
/// The groups of `count` gpus as the text of their column; nullopt: they are not so many, or
/// damaged.
std::string gpu_groups_text(std::int32_t count, const model::GpuGroups& groups);
std::optional<model::GpuGroups> parse_gpu_groups(std::string_view text, std::int32_t count);

class ColumnLister {
 public:
  template <class T>
  using Ref = const T&;

  template <class T>
  void id(std::string_view column, T) {
    add(column);
  }
  void work(std::string_view number, std::string_view kind, const model::WorkId&) {
    add(number);
    add(kind);
  }
  template <class T>
  void number(std::string_view column, T) {
    add(column);
  }
  template <class T>
  void any_number(std::string_view column, T) {
    add(column);
  }
  template <class T>
  void amount(std::string_view column, T) {
    add(column);
  }
  void vcpus(std::string_view column, model::Vcpus) { add(column); }
  void flag(std::string_view column, bool) { add(column); }
  template <class E>
  void choice(std::string_view column, E, E) {
    add(column);
  }
  template <class E>
  void maybe(std::string_view column, const std::optional<E>&, E) {
    add(column);
  }
  void duration(std::string_view column, Duration) { add(column); }
  void time(std::string_view column, Wall) { add(column); }
  void host_time(std::string_view column, Wall) { add(column); }
  template <class T>
  void code(std::string_view column, T) {
    add(column, Column::Type::kText);
  }
  void text(std::string_view column, const std::string&) { add(column, Column::Type::kText); }
  void names(std::string_view column, const std::vector<std::string>&) {
    add(column, Column::Type::kText);
  }
  void cards(std::string_view column, const std::vector<std::string>&) {
    add(column, Column::Type::kText);
  }
  void sessions(std::string_view column, const std::vector<std::string>&) {
    add(column, Column::Type::kText);
  }
  void gpu_wish(std::string_view kind, std::string_view memory, std::int32_t,
                const model::GpuWish&) {
    add(kind, Column::Type::kText);
    add(memory);
  }
  void gpu_groups(std::string_view column, std::int32_t, const model::GpuGroups&) {
    add(column, Column::Type::kText);
  }
  template <class T>
  void optional(std::string_view flag, const std::optional<T>&) {
    add(flag);
    fields(*this, T());
  }

  std::vector<Column> columns;

 private:
  void add(std::string_view name, Column::Type type = Column::Type::kNumber) {
    columns.push_back({name, type});
  }
};

/// Binds values to $1, $2, ... of a statement in the order of their columns. The record must live
/// until run() has returned.
class RowWriter {
 public:
  template <class T>
  using Ref = const T&;

  explicit RowWriter(Statement& put) : put_(put) { put_.rewind(); }

  template <class T>
  void id(std::string_view, T value) {
    HOSTLER_ASSERT(value != 0 && std::in_range<std::int64_t>(value), "ids count from 1");
    bind(value);
  }
  void work(std::string_view number, std::string_view kind, const model::WorkId& value) {
    id(number, value.value);
    choice(kind, value.kind, model::WorkKind::kReservation);
  }
  template <class T>
  void number(std::string_view, T value) {
    bind(value);
  }
  template <class T>
  void any_number(std::string_view, T value) {
    bind(value);
  }
  template <class T>
  void amount(std::string_view, T value) {
    bind(value);
  }
  void vcpus(std::string_view, model::Vcpus value) { bind(value.thousandths()); }
  void flag(std::string_view, bool value) { bind(value); }
  template <class E>
  void choice(std::string_view, E value, E last) {
    HOSTLER_ASSERT(value <= last, "the description of a row knows every value of its enums");
    bind(value);
  }
  template <class E>
  void maybe(std::string_view column, const std::optional<E>& value, E last) {
    if (value)
      choice(column, *value, last);
    else
      bind(-1);
  }
  void duration(std::string_view, Duration value) {
    bind(std::chrono::duration_cast<std::chrono::microseconds>(value).count());
  }
  void time(std::string_view, Wall value) { bind(value.us); }
  void host_time(std::string_view, Wall value) { bind(value.us); }
  template <class T>
  void code(std::string_view, T value) {
    bind(std::string_view(to_string(value)));
  }
  void text(std::string_view, std::string_view value) { bind(value); }
  void names(std::string_view, const std::vector<std::string>& values) {
    bind_made(join_names(values));
  }
  void cards(std::string_view column, const std::vector<std::string>& values) {
    HOSTLER_ASSERT(values.size() <= model::kCardsMax, "an attempt has the cards of one host");
    names(column, values);
  }
  void sessions(std::string_view, const std::vector<std::string>& values) {
    HOSTLER_ASSERT(values.size() <= model::kSupersededMax, "older sessions are forgotten");
    bind_made(sessions_text(values));
  }
  void gpu_wish(std::string_view, std::string_view, std::int32_t, const model::GpuWish& value) {
    bind(std::string_view(value.kind));
    bind(value.memory);
  }
  void gpu_groups(std::string_view, std::int32_t count, const model::GpuGroups& value) {
    bind_made(gpu_groups_text(count, value));
  }
  template <class T>
  void optional(std::string_view, const std::optional<T>& value) {
    static const T kNone{};
    bind(value.has_value());
    fields(*this, value ? *value : kNone);
  }

  Result<void> run() { return put_.run_bound(); }

 private:
  template <class T>
  void bind(const T& value) {
    put_.bind(++index_, value);
  }

  void bind_made(std::string text) {
    HOSTLER_ASSERT(made_ < texts_.size(), "a row has two texts at most that are made for it");
    bind(texts_[made_++] = std::move(text));
  }

  Statement& put_;
  int index_ = 0;
  std::array<std::string, 2> texts_;  ///< Of lists; they live until run() has returned.
  std::size_t made_ = 0;
};

/// Reads the columns of a row one after the other. A value out of its range leaves the field as it
/// was and is remembered; the columns after it are read all the same.
class RowReader {
 public:
  template <class T>
  using Ref = T&;

  explicit RowReader(const Statement& row, int first = 0) : row_(row), column_(first) {}

  /// What is wrong with the first bad value: "state is 99". Empty: every value is good.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] bool ok() const { return problem_.empty(); }

  template <class T>
  void id(std::string_view column, T& out) {
    constexpr auto kLast = std::min<std::uint64_t>(std::numeric_limits<T>::max(), INT64_MAX);
    bounded(column, out, 1, static_cast<std::int64_t>(kLast));
  }
  void work(std::string_view number, std::string_view kind, model::WorkId& out) {
    id(number, out.value);
    choice(kind, out.kind, model::WorkKind::kReservation);
  }
  template <class T>
  void number(std::string_view column, T& out) {
    const std::int64_t value = next();
    if (!std::in_range<T>(value)) return complain(column, value);
    out = static_cast<T>(value);
  }
  template <class T>
  void any_number(std::string_view, T& out) {
    static_assert(sizeof(T) == sizeof(std::int64_t));
    out = static_cast<T>(next());
  }
  template <class T>
  void amount(std::string_view column, T& out) {
    bounded(column, out, 0, std::numeric_limits<T>::max());
  }
  void vcpus(std::string_view column, model::Vcpus& out) {
    std::int64_t thousandths = out.thousandths();
    bounded(column, thousandths, 0, model::Vcpus(INT32_MAX).thousandths());
    out = model::Vcpus::of_thousandths(thousandths);
  }
  void flag(std::string_view column, bool& out) { bounded(column, out, 0, 1); }
  template <class E>
  void choice(std::string_view column, E& out, E last) {
    bounded(column, out, 0, static_cast<std::int64_t>(last));
  }
  template <class E>
  void maybe(std::string_view column, std::optional<E>& out, E last) {
    const std::int64_t value = next();
    if (value < -1 || value > static_cast<std::int64_t>(last)) return complain(column, value);
    out = value < 0 ? std::nullopt : std::optional<E>(static_cast<E>(value));
  }
  void duration(std::string_view column, Duration& out) {
    constexpr auto kLongest =
        std::chrono::duration_cast<std::chrono::microseconds>(Duration::max()).count();
    std::int64_t us = 0;
    bounded(column, us, 0, kLongest);
    out = std::chrono::microseconds(us);
  }
  void time(std::string_view column, Wall& out) {
    bounded(column, out.us, kNoNumber + 1, INT64_MAX);
  }
  void host_time(std::string_view, Wall& out) { out.us = next(); }
  void code(std::string_view, model::Event& out) {
    out = model::parse_event(row_.view(column_++)).value_or(model::Event::kUnknown);
  }
  void code(std::string_view, model::Reason& out) {
    out = model::parse_reason(row_.view(column_++)).value_or(model::Reason::kUnknown);
  }
  void text(std::string_view, std::string& out) { out = row_.view(column_++); }
  void names(std::string_view, std::vector<std::string>& out) {
    out = split_names(row_.view(column_++));
  }
  void cards(std::string_view column, std::vector<std::string>& out) {
    if (auto cards = parse_cards(row_.view(column_++)))
      out = *std::move(cards);
    else
      complain(column, "is no list of cards");
  }
  void sessions(std::string_view column, std::vector<std::string>& out) {
    if (auto sessions = parse_sessions(row_.view(column_++)))
      out = *std::move(sessions);
    else
      complain(column, "is no list of sessions");
  }
  void gpu_wish(std::string_view kind, std::string_view memory, std::int32_t gpus,
                model::GpuWish& out) {
    text(kind, out.kind);
    if (!out.kind.empty() && !model::is_gpu_kind(out.kind)) complain(kind, "is no kind of a gpu");
    amount(memory, out.memory);
    if (gpus == 0 && out != model::GpuWish{}) complain(kind, "is set for work without gpus");
  }
  void gpu_groups(std::string_view column, std::int32_t gpus, model::GpuGroups& out) {
    if (auto groups = parse_gpu_groups(row_.view(column_++), gpus))
      out = *std::move(groups);
    else
      complain(column, "does not say which gpus they are");
  }
  template <class T>
  void optional(std::string_view flag_column, std::optional<T>& out) {
    bool has = false;
    flag(flag_column, has);
    T value;
    fields(*this, value);
    if (has) out = std::move(value);
  }

 private:
  std::int64_t next() { return row_.i64(column_++); }
  template <class T>
  void bounded(std::string_view column, T& out, std::int64_t first, std::int64_t last) {
    const std::int64_t value = next();
    if (value < first || value > last) return complain(column, value);
    out = static_cast<T>(value);
  }
  void complain(std::string_view column, std::int64_t value) {
    complain(column, value == kNoNumber ? "is not a number" : "is " + std::to_string(value));
  }
  void complain(std::string_view column, const std::string& problem) {
    if (ok()) problem_ = std::string(column) + " " + problem;
  }

  const Statement& row_;
  int column_;
  std::string problem_;
};

}  // namespace hostler::store
