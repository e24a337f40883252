#pragma once

#include <string>

namespace hostler::agent {

/// Why no job can start, whatever it is: the state folder at `path`, in which this process works,
/// is gone, or a part of it is. Empty: all of it is there.
std::string lost_folder(const std::string& path);

}  // namespace hostler::agent
