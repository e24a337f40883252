#include "disks.h"

#include "api.h"

namespace hostler::ec2 {
namespace {

using driver::Error;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30, kMiB = std::uint64_t{1} << 20;
/// Of scratch disks: /dev/xvdt and the ones after it, which no image uses.
constexpr char kFirstLetter = 't';
constexpr int kScratchMax = 7;

std::string rounded_up(std::uint64_t amount, std::uint64_t unit) {
  return std::to_string(amount / unit + (amount % unit != 0 ? 1 : 0));
}

}  // namespace

std::vector<CreateSpec::Disk> read_disks(const hostler_create_req& request,
                                         const InstanceDefaults& defaults) {
  std::vector<CreateSpec::Disk> out;
  int scratch = 0, root = 0;
  for (std::size_t i = 0; i < request.n_disks; ++i) {
    const hostler_disk& disk = *request.disks[i];
    CreateSpec::Disk one;
    one.role = disk.role;
    if (disk.role == HOSTLER_DISK_SCRATCH) {
      if (scratch == kScratchMax)
        throw Error(HOSTLER_E_INVALID, "there are more than 7 scratch disks");
      one.device = std::string("/dev/xvd") + static_cast<char>(kFirstLetter + scratch++);
      if (disk.bytes == 0) throw Error(HOSTLER_E_INVALID, "a scratch disk has no size");
    } else if (disk.role != HOSTLER_DISK_ROOT || root++ != 0) {
      throw Error(HOSTLER_E_INVALID, "a disk is neither scratch nor the only root disk");
    }
    const auto add = [&](const char* field, const std::string& value) {
      one.fields.emplace_back(field, value);
    };
    if (disk.bytes != 0) add("VolumeSize", rounded_up(disk.bytes, kGiB));
    add("VolumeType", disk.kind.len != 0 ? text(disk.kind) : defaults.volume_type);
    if (disk.iops != 0) add("Iops", std::to_string(disk.iops));
    if (disk.throughput_bytes_per_s != 0)
      add("Throughput", rounded_up(disk.throughput_bytes_per_s, kMiB));
    if (defaults.encrypted) {
      add("Encrypted", "true");
      add("KmsKeyId", defaults.kms_key);
    }
    add("DeleteOnTermination", "true");
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace hostler::ec2
