#pragma once

/// Removing the files of jobs: trees of any depth and with any permissions, also if the agent is
/// not root. Links are never followed.
namespace hostler::agent {

/// Removes the content of a folder, but not the folder. Skips what cannot be removed. Blocks.
void empty_folder(const char* path);

/// Renames a file or folder. If a folder is not writable, makes it writable first, because a rename
/// changes its ".." entry. False on failure; errno says why.
bool move_tree(int at, const char* name, int to, const char* new_name);

}  // namespace hostler::agent
