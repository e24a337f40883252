#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace hostler::local::test {

/// A folder in /tmp for one test's instances. Goes with everything that still runs in it when the
/// test ends, however it ends: a process of its own sees to it.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& path() const { return path_; }
  std::string root() const { return path_ + "/root"; }

 private:
  std::string path_;
  int life_ = -1;
  int janitor_ = -1;
};

/// Processes that have the folder in their command line, environment, working directory or open
/// files; zombies, this one and `but` do not count. One line each.
std::vector<std::string> processes_of(const std::string& folder, pid_t but = 0);

void pause_briefly();
/// Asks again and again until it is so. False: not within a generous time.
template <class Condition>
bool eventually(Condition holds) {
  for (int tries = 0; tries < 6000; ++tries) {
    if (holds()) return true;
    pause_briefly();
  }
  return false;
}

struct Ran {
  int status = -1;  ///< Exit status; -1: a signal.
  std::string output;
};
/// Runs a program without a shell, its error output with the other.
Ran run(const std::vector<std::string>& argv);

}  // namespace hostler::local::test
