#pragma once

/// Removing what jobs leave, whatever its depth and modes, also where the agent is not root. No
/// link is followed.
namespace hostler::agent {

/// Removes what is in a folder, and leaves the folder. What cannot be removed stays.
void empty_folder(const char* path);

/// Renames a file or folder, also one that its owner made unwritable: a folder's new place is
/// written into its "..". Errno tells why it could not.
bool move_tree(int at, const char* name, int to, const char* new_name);

}  // namespace hostler::agent
