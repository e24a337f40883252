#include "core/plugin_host/extension_values.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/model/gpu_flaw.h"
#include "core/plugin_host/text_reader.h"

namespace hostler::plugin_host {
namespace {

/// As much as a site may configure of a type.
constexpr std::uint32_t kCountMax = 1U << 20U;
constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 50U;

/// Sorted. What passes the model's numbers becomes the largest, which gpu_flaw() refuses.
std::string read_gpu_groups(const hostler_offering& in, TextReader& read, model::GpuGroups& out) {
  if (in.n_gpu_groups == 0) return {};
  if (in.gpu_groups == nullptr) return "R19: a number of groups of gpus but no groups";
  if (in.n_gpu_groups > model::kGpuKindsMax)
    return "R64: " + std::to_string(in.n_gpu_groups) + " groups of gpus, allowed: at most " +
           std::to_string(model::kGpuKindsMax);
  for (std::size_t i = 0; i < in.n_gpu_groups; ++i) {
    const hostler_gpu_group& from = in.gpu_groups[i];
    model::GpuGroup& to = out.emplace_back();
    read.text(to.kind, from.kind, "the kind of a group of gpus");
    to.memory = static_cast<std::int64_t>(std::min<std::uint64_t>(from.memory_bytes, INT64_MAX));
    to.count = static_cast<std::int32_t>(std::min<std::uint32_t>(from.count, INT32_MAX));
  }
  std::ranges::sort(out);
  if (!read.broken().empty()) return {};
  const auto gpus = static_cast<std::int32_t>(std::min<std::uint32_t>(in.gpus, INT32_MAX));
  const std::string flaw = model::gpu_flaw(out, gpus);
  return flaw.empty() ? flaw : "R64: " + flaw;
}

}  // namespace

std::string read_offering(const hostler_rec& record, model::CloudOffering& out, TextsLeft& left) {
  hostler_offering in;
  if (auto broken = copy_growable(&record, in); !broken.empty()) return broken;
  TextReader read(left);
  read.name(out.provider_type, in.provider_type, "provider_type");
  read.name(out.region, in.region, "region");
  read.name(out.zone, in.zone, "zone");
  read.name(out.architecture, in.architecture, "architecture");
  if (in.price_micros_per_hour >= 0) out.price_per_hour = model::Micros{in.price_micros_per_hour};
  out.market = market(in.market);
  if (in.available <= HOSTLER_AVAILABLE_NO)
    out.available = static_cast<model::Availability>(in.available);  // else R9
  if (auto flaw = price_flaw(in.price_micros_per_hour, -1); !flaw.empty()) return flaw;
  if (in.vcpus > kCountMax || in.gpus > kCountMax || in.ram_bytes > kBytesMax ||
      in.scratch_bytes > kBytesMax)
    return "R6: an offering of more than 2^20 vcpus or gpus, or 2^50 bytes";
  out.resources = {.vcpus = static_cast<std::int32_t>(in.vcpus),
                   .gpus = static_cast<std::int32_t>(in.gpus),
                   .ram = static_cast<std::int64_t>(in.ram_bytes),
                   .scratch = static_cast<std::int64_t>(in.scratch_bytes)};
  std::string flaw = read_gpu_groups(in, read, out.gpu_groups);
  return first_flaw({std::move(read.broken()), std::move(flaw)});
}

std::string read_interruption(const hostler_rec& record, model::Interruption& out) {
  hostler_interruption in;
  if (auto broken = copy_growable(&record, in); !broken.empty()) return broken;
  TextReader read;
  read.name(out.instance_id, in.instance_id, "instance_id");
  read.text(out.text, in.text, "text");
  out.text = printable(out.text);
  out.at = wall(in.interruption_unix_ns);
  if (in.action <= HOSTLER_INTERRUPTION_WITHDRAWN)
    out.action = static_cast<model::InterruptionAction>(in.action);  // else R9
  if (read.broken().empty() && out.instance_id.empty())
    return "R28: an interruption of no instance";
  return first_flaw(
      {std::move(read.broken()), time_flaw("interruption_unix_ns", in.interruption_unix_ns)});
}

std::string read_leftover(const hostler_rec& record, model::Leftover& out, TextsLeft& left) {
  hostler_leftover in;
  if (auto broken = copy_growable(&record, in); !broken.empty()) return broken;
  TextReader read(left);
  read.name(out.type, in.type, "type");
  read.name(out.id, in.id, "id");
  read.name(out.instance_id, in.instance_id, "instance_id");
  read.tags(out.tags, in.tags, in.n_tags);
  out.created = wall(in.created_unix_ns);
  if (read.broken().empty() && (out.id.empty() || out.type.empty()))
    return "R28: a leftover without an id or a type";
  return first_flaw({std::move(read.broken()), time_flaw("created_unix_ns", in.created_unix_ns)});
}

std::string read_image(const hostler_rec& record, model::Image& out, TextsLeft& left) {
  hostler_image in;
  if (auto broken = copy_growable(&record, in); !broken.empty()) return broken;
  TextReader read(left);
  read.name(out.id, in.id, "id");
  read.name(out.name, in.name, "name");
  read.name(out.owner, in.owner, "owner");
  read.name(out.architecture, in.architecture, "architecture");
  out.created = wall(in.created_unix_ns);
  if (read.broken().empty() && out.id.empty()) return "R28: an image without an id";
  return first_flaw({std::move(read.broken()), time_flaw("created_unix_ns", in.created_unix_ns)});
}

std::string read_console(const hostler_rec& record, model::ConsoleText& out, TextsLeft& left) {
  hostler_console in;
  if (auto broken = copy_growable(&record, in); !broken.empty()) return broken;
  const bool is_first = out.bytes.empty();
  if (!is_first && in.offset < out.offset + out.bytes.size())
    return "R6: a piece of the console that begins before the end of the one before";
  if (is_first) out.offset = in.offset;
  const auto end = out.offset + out.bytes.size();
  if (!is_first && in.offset > end && !out.gap) out.gap = end;
  TextReader read(left);
  read.bytes(out.bytes, in.bytes, in.n_bytes, "bytes");
  out.as_of = wall(in.as_of_unix_ns);
  return first_flaw({std::move(read.broken()), time_flaw("as_of_unix_ns", in.as_of_unix_ns)});
}

}  // namespace hostler::plugin_host
