#include "core/base/units.h"
#include "core/cli/eval_result.h"
#include "core/cli/table.h"

/// How `hostler eval` shows what came of it.
namespace hostler::cli {
namespace {

using simulation::BoundNow;
using simulation::InputNow;
using simulation::number_text;

Duration seconds(double count) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(count));
}

std::vector<std::string> row_of(const InputNow& one) {
  std::string note = one.note;
  if (one.value && one.age)
    note = (*one.age > 0 ? format_duration(seconds(*one.age)) + " old" : "read just now") +
           (note.empty() ? "" : ", ") + note;
  return {one.text, one.value ? number_text(*one.value) : "unknown", note};
}

std::vector<std::string> row_of(const BoundNow& one) {
  const auto& note = one.note;
  std::string from = one.text.empty() ? "as configured" : one.text;
  if (note.computed) from += " = " + number_text(*note.computed);
  return {one.key, note.number ? std::to_string(*note.number) : "unknown", from};
}

void write(json::Writer& w, const InputNow& one) {
  w.begin_object().member("input", one.text);
  if (one.value) w.member("value", *one.value);
  if (one.value && one.age) w.member("age_seconds", *one.age);
  if (!one.note.empty()) w.member(one.value ? "note" : "unknown", one.note);
  w.end_object();
}

void write(json::Writer& w, const BoundNow& one) {
  w.begin_object().member("bound", one.key);
  if (!one.text.empty()) w.member("expression", one.text);
  if (one.note.computed) w.member("computed", *one.note.computed);
  if (one.note.wanted) w.member("wanted", *one.note.wanted);
  if (one.note.number)
    w.member("number", *one.note.number);
  else
    w.member("unknown", one.note.unknown);
  w.key("changes").begin_array();
  for (const std::string& change : one.note.changes) w.value(change);
  w.end_array().end_object();
}

void write(json::Writer& w, const char* key, const std::vector<std::string>& texts) {
  w.key(key).begin_array();
  for (const std::string& text : texts) w.value(text);
  w.end_array();
}

}  // namespace

std::string eval_text(const EvalResult& result) {
  std::string out;
  std::vector<std::vector<std::string>> rows;
  for (const InputNow& one : result.evaluation.inputs) rows.push_back(row_of(one));
  if (!rows.empty()) out += format_table({"INPUT", "VALUE", ""}, rows) + "\n";
  rows.clear();
  for (const BoundNow& one : result.evaluation.bounds) {
    rows.push_back(row_of(one));
    for (const std::string& change : one.note.changes) rows.push_back({"", "", change});
    // The lines below the first one show the place in the text, which stands above.
    if (!one.note.number)
      rows.push_back({"", "", one.note.unknown.substr(0, one.note.unknown.find('\n'))});
  }
  out += format_table({"BOUND", "HOSTS", ""}, rows);
  std::string missing;
  for (const std::string& name : result.missing) missing += (missing.empty() ? "" : ", ") + name;
  if (!missing.empty()) out += "not given, and so taken as 0: " + missing + " (--set NAME=N)\n";
  for (const std::string& note : result.notes) out += "note: " + note + "\n";
  return out;
}

std::string eval_json(const EvalResult& result) {
  std::string out;
  json::Writer w(out);
  w.begin_object().member("version", 1).member("time", exact_wall(result.at));
  if (!result.pool.empty()) w.member("pool", result.pool);
  w.member("known", result.is_known()).key("inputs").begin_array();
  for (const InputNow& one : result.evaluation.inputs) write(w, one);
  w.end_array().key("bounds").begin_array();
  for (const BoundNow& one : result.evaluation.bounds) write(w, one);
  w.end_array();
  write(w, "not_given", result.missing);
  write(w, "notes", result.notes);
  w.end_object();
  return out;
}

}  // namespace hostler::cli
