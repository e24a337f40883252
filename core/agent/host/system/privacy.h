#pragma once

namespace hostler::agent {

/// Lets processes of other users than root see only their own in /proc, in a mount namespace of
/// this process and its children: jobs with uids of their own do not see each other's arguments. No
/// effect where the host does not allow it, and on kernels before 5.8.
void hide_processes();

}  // namespace hostler::agent
