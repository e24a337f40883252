#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/agent/host/system/os.h"
#include "core/agent/protocol.h"

/// The output files of an ended job. The shim looks for them after all processes of the job have
/// ended. No symbolic link is followed, and only regular files are collected.
namespace hostler::agent {

inline constexpr std::size_t kOutputFilesMax = 4096;
/// How many names find_outputs() checks, for all patterns together.
inline constexpr std::size_t kOutputVisitsMax = 1'000'000;

/// Lists the files under `folder` that match one of `patterns`, ordered by path, each once. `**`
/// matches any number of folders; a folder that matches stands for all files in it.
///
/// Files that cannot be collected are listed with a problem. These are: paths without wildcards
/// that do not exist; links and special files that a pattern names without a wildcard (others are
/// ignored); files of other users, if `uid` is not 0; files beyond `bytes_max`, kOutputFilesMax or
/// `visits_max`; and names that are not plain text. The latter are listed under a similar name,
/// because every listed path satisfies is_safe_path().
std::vector<OutputFile> find_outputs(const std::string& folder,
                                     const std::vector<std::string>& patterns, std::uint32_t uid,
                                     std::uint64_t bytes_max,
                                     std::size_t visits_max = kOutputVisitsMax);

/// "out/42.1.files": where the shim writes the list for the server, as Files frames.
std::string files_path(model::AttemptId attempt);
Result<void> write_files(model::AttemptId attempt, const std::vector<OutputFile>& files);
/// Returns an empty list if there is no such file.
std::vector<OutputFile> read_files(model::AttemptId attempt);

/// Opens a listed file for reading. Fails if any part of the path is a symbolic link; errno then
/// says why.
UniqueFd open_output(const std::string& folder, const std::string& path);

}  // namespace hostler::agent
