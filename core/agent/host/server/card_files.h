#pragma once

#include <string>
#include <vector>

#include "core/agent/protocol.h"

namespace hostler::agent {

/// Where the kernel shows cards.
struct CardRoots {
  std::string devices = "/dev";
  std::string nvidia = "/proc/driver/nvidia/gpus";
  std::string drm = "/sys/class/drm";
  std::string log = "/dev/kmsg";
};

/// The device files of single cards, by path, at most kCardFilesMax: nvidiaN, dri/cardN and
/// dri/renderDN. Those that all cards share (nvidiactl, nvidia-uvm, kfd) are not among them.
std::vector<Cards::File> find_card_files(const CardRoots& roots);

}  // namespace hostler::agent
