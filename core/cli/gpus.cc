#include "core/cli/gpus.h"

#include "core/base/text.h"
#include "core/cli/print.h"
#include "core/model/gpus.h"

namespace hostler::cli {

Result<GpusOption> parse_gpus(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const bool has_kind = colon != std::string_view::npos;
  const std::string_view kind = has_kind ? text.substr(0, colon) : std::string_view();
  const auto count = parse_u64(has_kind ? text.substr(colon + 1) : text);
  if (!count || *count > static_cast<std::uint64_t>(model::kGpusMax) ||
      (has_kind && (!model::is_gpu_kind(kind) || *count == 0)))
    return fail(Errc::kInvalidArgument,
                "'" + printable(text, 100) + "' is no number of gpus: give a whole number up to " +
                    std::to_string(model::kGpusMax) +
                    ", or a kind in small letters and a number, such as a100:2");
  return GpusOption{std::string(kind), static_cast<std::int32_t>(*count)};
}

std::string gpus_text(json::Value gpus) {
  const bool is_object = gpus.is(json::Kind::kObject);
  const std::string count = is_object ? field(gpus, "count") : std::string(gpus.text());
  std::string out = count + (count == "1" ? " gpu" : " gpus");
  if (gpus.has("kind")) out += " of kind " + field(gpus, "kind");
  if (gpus.has("memory")) out += " with " + field(gpus, "memory") + (count == "1" ? "" : " each");
  return out;
}

std::string gpus_cell(json::Value gpus) {
  std::string out;
  if (gpus.is(json::Kind::kArray)) {
    for (const json::Value one : gpus.children()) out += (out.empty() ? "" : ", ") + gpus_cell(one);
    return out;
  }
  if (!gpus.is(json::Kind::kObject)) return std::string(gpus.text());
  out = field(gpus, "count");
  for (const char* said : {"kind", "memory"})
    if (gpus.has(said)) out += " " + field(gpus, said);
  return out;
}

}  // namespace hostler::cli
