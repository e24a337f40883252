#pragma once

#include <string>

#include "hostler/driver.h"

namespace hostler::plugin_host {

/// The functions and limits that this process offers to drivers. One object, never destroyed.
const hostler_host& host_table();

/// "driver local, set east": where log lines about a driver come from. `set`: empty if there is
/// none.
std::string log_area(const std::string& driver, const std::string& set);

/// Sets the area of a set's log lines; an empty one removes it. Any thread.
void name_set_in_log(const hostler_set* set, const std::string& area);

/// While this object lives, lines that the driver writes on this thread without naming a set have
/// this area. The text must outlive the object.
class LogAs {
 public:
  explicit LogAs(const std::string& area);
  ~LogAs();
  LogAs(const LogAs&) = delete;
  LogAs& operator=(const LogAs&) = delete;

 private:
  const std::string* before_;
};

}  // namespace hostler::plugin_host
