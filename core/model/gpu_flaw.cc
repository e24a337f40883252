#include "core/model/gpu_flaw.h"

#include <algorithm>

namespace hostler::model {
namespace {

constexpr std::int64_t kMemoryMax = std::int64_t{1} << 50;

std::string flaw_of(const GpuGroup& group) {
  if (!group.kind.empty() && !is_gpu_kind(group.kind))
    return "a kind of gpus that is not 1 to " + std::to_string(kGpuKindBytesMax) +
           " characters of a-z 0-9 . _ -";
  if (group.count < 1 || group.count > kGpusMax) return "a group of no gpus, or of more than 2^20";
  if (group.memory < 0 || group.memory > kMemoryMax) return "a gpu of more than 2^50 bytes";
  return {};
}

}  // namespace

std::string gpu_flaw(const GpuGroups& groups, std::int32_t gpus) {
  if (groups.empty()) return {};
  if (groups.size() > kGpuKindsMax)
    return std::to_string(groups.size()) + " groups of gpus, allowed: at most " +
           std::to_string(kGpuKindsMax);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (auto flaw = flaw_of(groups[i]); !flaw.empty()) return flaw;
    for (std::size_t j = 0; j < i; ++j)
      if (groups[j].kind == groups[i].kind && groups[j].memory == groups[i].memory)
        return "two groups of gpus of one kind and memory";
    sum += groups[i].count;
  }
  if (sum == gpus) return {};
  return "groups of " + std::to_string(sum) + " gpus together, which are " + std::to_string(gpus);
}

}  // namespace hostler::model
