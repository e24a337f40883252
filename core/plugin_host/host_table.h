#pragma once

#include <string>

#include "core/log/log.h"
#include "hostler/driver.h"

namespace hostler::plugin_host {

/// The functions and limits that this process offers to drivers. One object, never destroyed.
const hostler_host& host_table();

/// Where lines of drivers go; before that they are dropped. `write` is called on threads of the
/// driver, with a line that is fit to print. Before any driver is loaded.
void set_line_sink(void (*write)(log::Level level, const std::string& area,
                                 const std::string& line));

/// "driver local, set east": where log lines about a driver come from. `set`: empty if there is
/// none.
std::string log_area(const std::string& driver, const std::string& set);

/// Sets the area of a set's log lines; an empty one removes it. Any thread.
void name_set_in_log(const hostler_set* set, const std::string& area);

/// Writes a line about a driver that has used what is not there. Any thread.
void log_misuse(const std::string& text);

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
