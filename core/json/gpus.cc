#include "core/json/gpus.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/units.h"

namespace hostler::json {
namespace {

constexpr std::int64_t kMemoryMax = std::int64_t{1} << 50;

bool read_kind(const Field& field, std::string& out) {
  if (!field.present()) return true;
  if (!field.value()->is(Kind::kString) || !model::is_gpu_kind(field.value()->text()))
    return field.refuse("the kind of a gpu, such as \"a100\": 1 to " +
                        std::to_string(model::kGpuKindBytesMax) + " characters of a-z 0-9 . _ -");
  out = field.value()->text();
  return true;
}

/// An object: cards that are equal.
bool read_group(const Field& field, model::GpuGroup& out) {
  bool good = false;
  model::GpuGroup read;
  field.object([&](Object& o) {
    const bool counted = o.need("count").integer(read.count, 1, model::kGpusMax);
    const bool named = read_kind(o.may("kind"), read.kind);
    const Field memory = o.may("memory");
    const bool sized = !memory.present() || memory.size(read.memory, 1, kMemoryMax);
    good = counted && named && sized;
  });
  if (good) out = std::move(read);
  return good;
}

/// A number or an object. `also`: what else the field allows.
bool read_one(const Field& field, const char* also, model::GpuGroup& out) {
  if (field.value()->is(Kind::kObject)) return read_group(field, out);
  if (field.value()->is(Kind::kNumber)) return field.integer(out.count, 0, model::kGpusMax);
  return field.refuse("a whole number from 0 to " + std::to_string(model::kGpusMax) +
                      R"(, or an object such as {"count": 2, "kind": "a100", "memory": "40GiB"})" +
                      also);
}

bool read_list(const Field& field, model::GpuGroups& out) {
  bool good = true;
  const bool all = field.each(model::kGpuKindsMax, [&](const Field& element) {
    model::GpuGroup& one = out.emplace_back();
    if (!read_group(element, one)) {
      good = false;
      out.pop_back();
      return;
    }
    const bool is_double = std::any_of(out.begin(), out.end() - 1, [&](const auto& other) {
      return other.kind == one.kind && other.memory == one.memory;
    });
    if (is_double)
      good = element.problem("found this kind and memory a second time, allowed: each pair once");
  });
  return all && good;
}

bool is_said(const model::GpuGroup& group) { return !group.kind.empty() || group.memory > 0; }

void write_object(Writer& w, const model::GpuGroup& group) {
  w.begin_object().member("count", group.count);
  if (!group.kind.empty()) w.member("kind", group.kind);
  if (group.memory > 0) w.member("memory", exact_size(group.memory));
  w.end_object();
}

void write_one(Writer& w, const model::GpuGroup& group) {
  if (is_said(group))
    write_object(w, group);
  else
    w.value(group.count);
}

}  // namespace

bool read_gpus(const Field& field, std::int32_t& count, model::GpuWish& wish) {
  model::GpuGroup read;
  if (!field.present() || !read_one(field, "", read)) return false;
  count = read.count;
  wish = {.kind = std::move(read.kind), .memory = read.memory};
  return true;
}

bool read_gpus(const Field& field, std::int32_t& count, model::GpuGroups& groups) {
  if (!field.present()) return false;
  model::GpuGroups read;
  const bool good = field.value()->is(Kind::kArray)
                        ? read_list(field, read)
                        : read_one(field, ", or a list of such objects", read.emplace_back());
  if (!good) return false;
  std::int64_t sum = 0;
  for (const auto& group : read) sum += group.count;
  if (sum > model::kGpusMax)
    return field.problem("found " + std::to_string(sum) + " gpus together, allowed: at most " +
                         std::to_string(model::kGpusMax));
  std::ranges::sort(read);
  if (read.size() == 1 && !is_said(read.front())) read.clear();
  count = static_cast<std::int32_t>(sum);
  groups = std::move(read);
  return true;
}

void write_gpus(Writer& w, std::int32_t count, const model::GpuWish& wish) {
  if (count == 0) return;
  write_one(w.key("gpus"), {.kind = wish.kind, .memory = wish.memory, .count = count});
}

void write_gpus(Writer& w, std::int32_t count, const model::GpuGroups& groups) {
  if (count != 0) write_gpus_value(w.key("gpus"), count, groups);
}

void write_gpus_value(Writer& w, std::int32_t count, const model::GpuGroups& groups) {
  if (groups.size() < 2) {
    model::GpuGroup one = groups.empty() ? model::GpuGroup{} : groups.front();
    one.count = count;
    return write_one(w, one);
  }
  w.begin_array();
  for (const auto& group : groups) write_object(w, group);
  w.end_array();
}

}  // namespace hostler::json
