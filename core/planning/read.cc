#include "core/planning/read.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/config/plan_keys.h"
#include "core/json/gpus.h"
#include "core/planning/readers.h"
#include "core/planning/words.h"

namespace hostler::planning {
namespace {

constexpr json::ParseOptions kLimits{
    .bytes_max = kSnapshotBytesMax, .depth_max = 16, .values_max = 4'000'000};
constexpr std::size_t kNamedMax = 10'000;  ///< Types, sets or pools.
constexpr std::int64_t kHeadroomMax = 1'000'000'000;

/// Gives the name the next index, unless it is taken.
void claim(const json::Field& field, const std::string& name, Names& names) {
  const auto next = static_cast<std::uint32_t>(names.size());
  if (!name.empty() && !names.try_emplace(name, next).second)
    field.problem("found \"" + name + "\" a second time, allowed: each name once");
}

/// Reads a list of things with names; `read` reads one of them, `name` and all.
template <class T>
void read_named(const json::Field& field, Names& names, std::vector<T>& out,
                const std::function<void(json::Object&, T&)>& read) {
  field.each(kNamedMax, [&](const json::Field& element) {
    element.object([&](json::Object& o) {
      T& one = out.emplace_back();
      read(o, one);
      claim(o.may("name"), one.name, names);
    });
  });
}

void read_policy(json::Object& o, Draft& draft) {
  auto& policy = draft.out.policy;
  read_named<model::InstanceType>(
      o.may("types"), draft.types, policy.types, [&](json::Object& type, model::InstanceType& out) {
        type.need("name").name(out.name);
        type.may("price").millionths(out.price_per_hour.value, 0, kMoneyMax);
        type.may("jobs_max").integer(out.jobs_max, 1, model::kJobsOnHostMax);
        if (type.may("slots").integer(out.resources.slots, 0, model::kSlotsMax))
          draft.slots_said.insert(static_cast<std::uint32_t>(policy.types.size() - 1));
      });
  read_named<model::SetPolicy>(
      o.need("sets"), draft.sets, policy.sets,
      [](json::Object& set, model::SetPolicy& out) { set.need("name").name(out.name); });
  read_named<model::PoolPolicy>(o.need("pools"), draft.pools, policy.pools,
                                [&](json::Object& pool, model::PoolPolicy& out) {
                                  config::read_plan_keys(pool, out);
                                  read_push(pool.may("push"), out, draft.out.pushes.emplace_back());
                                });
}

void read_headroom(const json::Field& field, gates::Headroom& out) {
  field.object([&](json::Object& o) {
    for (const Room& room : kRooms) {
      std::int64_t number = 0;
      if (o.may(room.key).integer(number, -kHeadroomMax, kHeadroomMax)) out.*room.member = number;
    }
    std::int64_t price = 0;
    if (o.may("price_per_hour").millionths(price, -kMoneyMax, kMoneyMax))
      out.price_per_hour = model::Micros{price};
  });
}

/// The members of an object whose keys are names of `known`.
void read_by_name(const json::Field& field, const Names& known, const char* kind,
                  const std::function<void(std::uint32_t, const json::Field&)>& read) {
  field.members(kNamedMax, [&](std::string_view name, const json::Field& value) {
    const auto found = known.find(name);
    if (found == known.end())
      value.problem("there is no " + std::string(kind) + " \"" + printable(name, 63) +
                    "\" in this snapshot");
    else
      read(found->second, value);
  });
}

void read_headrooms(const json::Field& field, Draft& draft) {
  auto& out = draft.out.snapshot;
  out.sets.resize(draft.out.policy.sets.size());
  out.pools.resize(draft.out.policy.pools.size());
  field.object([&](json::Object& o) {
    read_headroom(o.may("site"), out.site);
    read_by_name(o.may("sets"), draft.sets, "set", [&](std::uint32_t i, const json::Field& one) {
      if (i < out.sets.size()) read_headroom(one, out.sets[i]);
    });
    read_by_name(o.may("pools"), draft.pools, "pool", [&](std::uint32_t i, const json::Field& one) {
      if (i < out.pools.size()) read_headroom(one, out.pools[i]);
    });
  });
}

void read_set_aside(const json::Field& field, Draft& draft) {
  auto& out = draft.out.snapshot.set_aside;
  out.resize(draft.out.policy.pools.size());
  read_by_name(field, draft.pools, "pool", [&](std::uint32_t i, const json::Field& one) {
    if (i < out.size()) one.integer(out[i], 0, kCountMax);
  });
}

void read_rests(const json::Field& field, Draft& draft) {
  auto& out = draft.out.snapshot.rests;
  out.resize(draft.out.policy.pools.size());
  read_by_name(field, draft.pools, "pool", [&](std::uint32_t i, const json::Field& one) {
    if (i >= out.size()) return;
    one.object([&](json::Object& rest) {
      rest.may("hosts").integer(out[i].hosts, 0, kCountMax);
      rest.may("exchange").boolean(out[i].exchange);
    });
  });
}

void read_all_bounds(const json::Field& field, Draft& draft) {
  auto& out = draft.out.snapshot.bounds;
  out.resize(draft.out.policy.pools.size());
  read_by_name(field, draft.pools, "pool", [&](std::uint32_t i, const json::Field& one) {
    if (i < out.size()) read_bounds(one, out[i]);
  });
}

void read_all(json::Object& o, Draft& draft) {
  auto& snapshot = draft.out.snapshot;
  snapshot.now = kNow;
  std::string time;
  const json::Field at = o.may("time");
  if (at.text(time, {.bytes_max = 40, .one_line = true})) {
    draft.out.time = parse_wall(time);
    if (!draft.out.time) at.refuse("a time such as \"2026-11-21T10:15:04Z\"");
  }
  read_policy(o, draft);
  read_headrooms(o.may("headroom"), draft);
  read_set_aside(o.may("set_aside"), draft);
  read_rests(o.may("rests"), draft);
  read_all_bounds(o.may("bounds"), draft);
  read_offerings(o.may("offerings"), draft);
  read_gates(o.may("gates"), draft);
  o.may("has_limits").boolean(snapshot.has_limits);
  o.may("work_gone").each(kListMax, [&](const json::Field& element) {
    demand::ClassId cls = 0;
    if (read_class(element, cls) && !draft.work.insert(cls).second)
      element.problem("found \"" + text_of(cls) + "\" a second time, allowed: each id once");
  });
  read_work(o.may("work"), draft);
  take_pushes(o.may("pools"), draft);
  read_hosts(o.may("hosts"), draft);
}

/// False: nothing else can be read, and the problem is told.
bool is_known_version(json::Object& o, std::vector<std::string>& unread) {
  std::int64_t version = 0;
  const json::Field field = o.need("version");
  const bool good =
      field.integer(version, 1, 1'000'000) &&
      (version == kVersion ||
       field.problem("found " + std::to_string(version) + ", allowed: " + std::to_string(kVersion) +
                     "; a newer hostler has written it, and this one cannot read it"));
  if (!good) o.tolerate_unknown(unread);
  return good;
}

}  // namespace

template <class Gpus>
void read_resources(json::Object& o, model::Resources& out, Gpus& gpus) {
  std::int64_t vcpus = 0;
  if (o.may("vcpus").thousandths(vcpus, 0, model::kVcpusMax.thousandths()))
    out.vcpus = model::Vcpus::of_thousandths(vcpus);
  o.may("ram").size(out.ram, 0, kBytesMax);
  o.may("scratch").size(out.scratch, 0, kBytesMax);
  o.may("slots").integer(out.slots, 0, model::kSlotsMax);
  json::read_gpus(o.may("gpus"), out.gpus, gpus);
}
template void read_resources(json::Object& o, model::Resources& out, model::GpuWish& gpus);
template void read_resources(json::Object& o, model::Resources& out, model::GpuGroups& gpus);

bool read_age(const json::Field& field, Mono& out) {
  Duration age{};
  if (!field.duration(age, Duration{}, kLongest)) return false;
  out = kNow - age;
  return true;
}

bool read_class(const json::Field& field, demand::ClassId& out) {
  std::string text;
  if (!field.text(text, {.bytes_max = 63, .one_line = true})) return false;
  const auto cls = parse_class(text);
  if (!cls) return field.refuse("an id of work such as \"c-7\"");
  out = *cls;
  return true;
}

bool read_known_class(const json::Field& field, const Draft& draft, demand::ClassId& out) {
  demand::ClassId cls = 0;
  if (!read_class(field, cls)) return false;
  if (!draft.work.contains(cls))
    return field.problem("found \"" + text_of(cls) +
                         "\", allowed: an id that work or work_gone of this snapshot names");
  out = cls;
  return true;
}

bool read_reference(const json::Field& field, const Names& known, const char* kind,
                    std::uint32_t& out) {
  std::string name;
  if (!field.text(name, {.bytes_max = 255, .one_line = true})) return false;
  if (const auto found = known.find(name); found != known.end()) {
    out = found->second;
    return true;
  }
  std::string all;
  for (const auto& [one, index] : known) {
    if (all.size() > 200) break;
    all += (all.empty() ? "" : ", ") + one;
  }
  return field.problem("found \"" + printable(name, 63) + "\", which is no " + kind +
                       " of this snapshot, allowed: " + (all.empty() ? "there is none" : all));
}

Reading read_question(std::string_view text) {
  Reading out;
  const auto document = json::Document::parse(text, kLimits);
  if (!document) {
    out.problems.push_back(document.error());
    return out;
  }
  Draft draft;
  json::Problems problems;
  std::vector<std::string> unread;
  json::Field(document->root(), problems).object([&](json::Object& o) {
    if (is_known_version(o, unread)) read_all(o, draft);
  });
  out.problems = problems.list();
  if (problems.ok()) out.question = std::move(draft.out);
  return out;
}

}  // namespace hostler::planning
