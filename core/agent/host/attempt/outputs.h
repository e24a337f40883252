#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/agent/host/system/os.h"
#include "core/agent/protocol.h"

/// The files that an ended job leaves for its submitter. Found by the shim when none of the job's
/// processes lives any more; no symbolic link is followed, and nothing but regular files is taken.
namespace hostler::agent {

inline constexpr std::size_t kOutputFilesMax = 4096;
inline constexpr std::size_t kOutputVisitsMax = 1'000'000;  ///< Names looked at for all patterns.

/// `*`, `?`, `[a-z]`, `[!a]` and `\` within one name. `*` and `?` pass over a leading dot.
bool matches_name(std::string_view pattern, std::string_view name);

/// Every file under `folder` that one of `patterns` names, in order of their paths, each once. `**`
/// stands for any number of folders; a folder that matches stands for all in it. What cannot be
/// taken is listed with its problem: links and special files that a pattern names as they are (what
/// a wildcard or a folder brings besides files is passed over), other users' files (if `uid` is not
/// 0), whatever is beyond `bytes_max`, kOutputFilesMax or `visits_max`, names that are no plain
/// text (by a name like theirs: every path listed is_safe_path()), and plain paths that are not
/// there.
std::vector<OutputFile> find_outputs(const std::string& folder,
                                     const std::vector<std::string>& patterns, std::uint32_t uid,
                                     std::uint64_t bytes_max,
                                     std::size_t visits_max = kOutputVisitsMax);

/// "out/42.1.files": the list as the shim leaves it, in Files frames.
std::string files_path(model::AttemptId attempt);
Result<void> write_files(model::AttemptId attempt, const std::vector<OutputFile>& files);
/// Empty if there is none.
std::vector<OutputFile> read_files(model::AttemptId attempt);

/// Opens a listed file for reading; no part of the path may be a symbolic link.
UniqueFd open_output(const std::string& folder, const std::string& path);

}  // namespace hostler::agent
