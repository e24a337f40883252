#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/json/document.h"

/// How people write gpus and read of them.
namespace hostler::cli {

/// The option --gpus: "2", or as Slurm has it "a100:2".
struct GpusOption {
  std::string kind;  ///< Empty: any.
  std::int32_t count = 0;
};
Result<GpusOption> parse_gpus(std::string_view text);

/// A value `gpus` of the API or of a snapshot, in a sentence: "2 gpus of kind a100 with 40GiB
/// each".
std::string gpus_text(json::Value gpus);
/// The same in a table: "2 a100 40GiB", "2 l40s, 4 t4", "0".
std::string gpus_cell(json::Value gpus);

}  // namespace hostler::cli
