#include "core/json/reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/json/writer.h"

namespace hostler::json {
namespace {

constexpr std::size_t kProblemsMax = 100, kUnknownMax = 20;

std::string join(const std::string_view* words, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += (i == 0 ? "" : ", ") + std::string(words[i]);
  return out;
}

std::string range(const std::string& kind, const std::string& min, const std::string& max) {
  return kind + " from " + min + " to " + max;
}

/// ", e.g. "30s", "10m"": those of `examples` that `parse` reads as a value in the range.
template <class Parse, class T>
std::string such_as(std::initializer_list<const char*> examples, Parse parse, T min, T max) {
  std::string out;
  for (const char* example : examples)
    if (const auto value = parse(example); value && *value >= min && *value <= max)
      out += std::string(out.empty() ? ", e.g. \"" : ", \"") + example + "\"";
  return out;
}

std::string plain(double number) {
  std::string out = std::to_string(number);
  out.erase(out.find_last_not_of('0') + 1);
  if (out.ends_with('.')) out.pop_back();
  return out;
}

/// "pools[3].name" as "pools[].name".
std::string without_indexes(std::string_view path) {
  std::string out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    out += path[i];
    if (path[i] == '[')
      while (i + 1 < path.size() && path[i + 1] != ']') ++i;
  }
  return out;
}

}  // namespace

bool Problems::full() const { return list_.size() >= kProblemsMax; }

void Problems::add(Error error) {
  if (!full()) list_.push_back(std::move(error));
}

void Problems::add(const Problems& found) {
  for (const Error& error : found.list()) add(error);
  keys_.insert(found.keys().begin(), found.keys().end());
}

void Problems::add(const Value& at, const std::string& text, Errc code) {
  if (full()) return;
  const std::string path = at.path();
  add(Error{code, (path.empty() ? "" : path + ": ") + text + " (at " + at.position() + ")", path});
}

Result<void> Problems::result() const {
  if (ok()) return {};
  Error first = list_.front();
  if (list_.size() > 1) first.message += "; and " + std::to_string(list_.size() - 1) + " more";
  return tl::unexpected(std::move(first));
}

void Problems::note_key(const Value& object, std::string_view key) {
  if (!recording_) return;
  const std::string path = without_indexes(object.path());
  keys_.insert(path.empty() ? std::string(key) : path + "." + std::string(key));
}

bool Field::problem(const std::string& text, Errc code) const {
  if (value_) problems_->add(*value_, text, code);
  return false;
}

void Field::pass_on(const Problems& found) const { problems_->add(found); }

bool Field::refuse(const std::string& allowed) const {
  return value_ && problem("found " + value_->found() + ", allowed: " + allowed);
}

bool Field::boolean(bool& out) const {
  if (!value_) return false;
  if (!value_->is(Kind::kBool)) return refuse("true, false");
  out = value_->text() == "true";
  return true;
}

std::optional<std::int64_t> Field::read_integer(std::int64_t min, std::int64_t max) const {
  if (!value_) return std::nullopt;
  const std::string_view digits = value_->text();
  const char* const end = digits.data() + digits.size();
  std::int64_t number = 0;
  const auto [rest, problem] = std::from_chars(digits.data(), end, number);
  if (value_->is(Kind::kNumber) && problem == std::errc() && rest == end && number >= min &&
      number <= max)
    return number;
  refuse(range("a whole number", std::to_string(min), std::to_string(max)));
  return std::nullopt;
}

bool Field::number(double& out, double min, double max) const {
  if (!value_) return false;
  const std::string_view digits = value_->text();
  double read = 0;
  const auto problem = std::from_chars(digits.data(), digits.data() + digits.size(), read).ec;
  if (!value_->is(Kind::kNumber) || problem != std::errc() || !(read >= min && read <= max))
    return refuse(range("a number", plain(min), plain(max)));
  out = read;
  return true;
}

bool Field::millionths(std::int64_t& out, std::int64_t min, std::int64_t max) const {
  double read = 0;
  if (!number(read, static_cast<double>(min) / 1e6, static_cast<double>(max) / 1e6)) return false;
  out = std::llround(read * 1e6);
  if (out == 0 && read != 0) return refuse("0, or at least 0.000001");
  return true;
}

bool Field::thousandths(std::int64_t& out, std::int64_t min, std::int64_t max) const {
  double read = 0;
  if (!number(read, static_cast<double>(min) / 1e3, static_cast<double>(max) / 1e3)) return false;
  const std::int64_t nearest = std::llround(read * 1e3);
  // Both are the double that is nearest to the same decimal number.
  if (static_cast<double>(nearest) / 1e3 != read)
    return refuse("a number with at most three decimals, such as 0.25");
  out = nearest;
  return true;
}

bool Field::text(std::string& out, const TextRule& rule) const {
  if (!value_) return false;
  const std::string_view read = value_->text();
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  const auto refuse_text = [&](const std::string& allowed) {
    const std::string found =
        rule.secret && value_->is(Kind::kString) ? "a secret string" : value_->found();
    return problem("found " + found + ", allowed: " + allowed);
  };
  if (!value_->is(Kind::kString)) return refuse_text("a string");
  if (read.size() > rule.bytes_max)
    return problem("found a string of " + std::to_string(read.size()) +
                       " bytes, allowed: at most " + std::to_string(rule.bytes_max),
                   Errc::kTooLarge);
  if (read.size() < rule.bytes_min)
    return refuse_text(rule.bytes_min == 1
                           ? "a string that is not empty"
                           : "at least " + std::to_string(rule.bytes_min) + " bytes");
  if (!rule.nul_allowed && read.find('\0') != std::string_view::npos)
    return refuse_text("a string without U+0000");
  if (rule.one_line && std::ranges::any_of(read, is_control))
    return refuse_text("one line without control characters");
  out = read;
  return true;
}

bool Field::name(std::string& out) const {
  if (!value_) return false;
  if (!value_->is(Kind::kString) || !is_name(value_->text()))
    return refuse("a name of 1 to 63 characters of a-z 0-9 _ -");
  out = value_->text();
  return true;
}

bool Field::duration(Duration& out, Duration min, Duration max) const {
  if (!value_) return false;
  const auto allowed = [&] {
    return range("a duration", exact_duration(min), exact_duration(max)) +
           such_as({"250ms", "30s", "10m", "2h"}, parse_duration, min, max);
  };
  if (!value_->is(Kind::kString)) return refuse(allowed());
  const auto read = parse_duration(value_->text());
  if (!read) return problem(read.error().message);
  if (*read < min || *read > max) return refuse(allowed());
  out = *read;
  return true;
}

bool Field::size(std::int64_t& out, std::int64_t min, std::int64_t max) const {
  if (!value_) return false;
  const auto allowed = [&] {
    return range("a size", exact_size(min), exact_size(max)) +
           such_as({"64KiB", "512MiB", "2GiB"}, parse_size, min, max);
  };
  if (!value_->is(Kind::kString)) return refuse(allowed());
  const auto read = parse_size(value_->text());
  if (!read) return problem(read.error().message);
  if (*read < min || *read > max) return refuse(allowed());
  out = *read;
  return true;
}

std::optional<std::size_t> Field::read_word(const std::string_view* words,
                                            std::size_t count) const {
  if (!value_) return std::nullopt;
  for (std::size_t i = 0; i < count; ++i)
    if (value_->is(Kind::kString) && value_->text() == words[i]) return i;
  refuse(join(words, count));
  return std::nullopt;
}

bool Field::each(std::size_t max, const std::function<void(Field)>& element) const {
  if (!value_) return false;
  if (!value_->is(Kind::kArray)) return refuse("an array of at most " + std::to_string(max));
  if (value_->size() > max)
    return problem("found " + value_->found() + ", allowed: at most " + std::to_string(max),
                   Errc::kTooLarge);
  for (const Value child : value_->children()) {
    if (problems_->full()) break;
    element(Field(child, *problems_));
  }
  return true;
}

bool Field::members(std::size_t max,
                    const std::function<void(std::string_view, Field)>& member) const {
  if (!value_) return false;
  if (!value_->is(Kind::kObject)) return refuse("an object of at most " + std::to_string(max));
  if (value_->size() > max)
    return problem("found an object of " + std::to_string(value_->size()) +
                       " members, allowed: at most " + std::to_string(max),
                   Errc::kTooLarge);
  for (const Value child : value_->children()) {
    if (problems_->full()) break;
    member(child.key(), Field(child, *problems_));
  }
  return true;
}

bool Field::object(const std::function<void(Object&)>& members) const {
  if (!value_) return false;
  Object object(*value_, *problems_);
  if (!value_->is(Kind::kObject)) return false;
  members(object);
  return true;
}

bool Field::texts(std::vector<std::string>& out, std::size_t max, const TextRule& rule) const {
  std::vector<std::string> read;
  bool good = true;
  const bool all = each(
      max, [&](const Field& element) { good = element.text(read.emplace_back(), rule) && good; });
  if (!all || !good) return false;
  out = std::move(read);
  return true;
}

bool Field::names(std::vector<std::string>& out, std::size_t max) const {
  std::vector<std::string> read;
  bool good = true;
  const bool all = each(max, [&](const Field& element) {
    std::string name;
    if (!element.name(name)) {
      good = false;
    } else if (std::ranges::find(read, name) != read.end()) {
      good = element.problem("found \"" + name + "\" twice, allowed: each once");
    } else {
      read.push_back(std::move(name));
    }
  });
  if (!all || !good) return false;
  out = std::move(read);
  return true;
}

bool Field::object_text(std::string& out, std::size_t bytes_max) const {
  if (!value_) return false;
  if (!value_->is(Kind::kObject)) return refuse("an object");
  std::string read = to_text(*value_);
  if (read.size() > bytes_max)
    return problem("found an object of " + std::to_string(read.size()) +
                       " bytes, allowed: at most " + std::to_string(bytes_max),
                   Errc::kTooLarge);
  out = std::move(read);
  return true;
}

Object::Object(Value value, Problems& problems)
    : value_(value), problems_(&problems), is_object_(value.is(Kind::kObject)) {
  if (!is_object_) problems.add(value, "found " + value.found() + ", allowed: an object");
}

Object::~Object() {
  if (!is_object_) return;
  for (const Value member : value_.children()) {
    if (std::ranges::find(known_, member.key()) != known_.end()) continue;
    if (unknown_ == nullptr)
      problems_->add(member, "unknown key; known here: " +
                                 (known_.empty() ? "none" : join(known_.data(), known_.size())));
    else if (unknown_->size() < kUnknownMax)
      unknown_->push_back(member.path());
  }
}

Field Object::may(std::string_view key) {
  if (std::ranges::find(known_, key) == known_.end()) known_.push_back(key);
  problems_->note_key(value_, key);
  if (is_object_)
    for (const Value member : value_.children())
      if (member.key() == key) return {member, *problems_};
  return {std::nullopt, *problems_};
}

Field Object::need(std::string_view key) {
  Field field = may(key);
  if (is_object_ && !field.present()) {
    std::string path = value_.path() + path_step(key);
    if (path.starts_with('.')) path.erase(0, 1);
    problems_->add(
        Error{Errc::kInvalidArgument,
              path + ": missing, but required (in the object at " + value_.position() + ")", path});
  }
  return field;
}

std::string_view Object::exactly_one(std::initializer_list<std::string_view> keys) {
  std::string_view found;
  int count = 0;
  for (const std::string_view key : keys) {
    if (!may(key).present()) continue;
    found = key;
    ++count;
  }
  if (count == 1 || !is_object_) return found;
  problems_->add(value_, std::string(count == 0 ? "found none" : "found more than one") +
                             ", allowed: exactly one of " + join(keys.begin(), keys.size()));
  return {};
}

Result<void> read_object(std::string_view text, const ParseOptions& options,
                         const std::function<void(Object&)>& members) {
  const Document document = HOSTLER_TRY(Document::parse(text, options));
  Problems problems;
  Field(document.root(), problems).object(members);
  return problems.result();
}

Result<void> read_object(std::string_view text, const ParseOptions& options,
                         const EachElement& elements, const std::function<void(Object&)>& members) {
  Problems problems;
  const auto read = [&](Value element) {
    return elements.read(Field(element, problems)) && !problems.full();
  };
  const auto document = Document::parse(
      text, options, Elements{elements.key, elements.max, elements.bytes_max, read});
  HOSTLER_TRY(problems.result());
  if (!document) return tl::unexpected(document.error());
  Field(document->root(), problems).object(members);
  return problems.result();
}

}  // namespace hostler::json
