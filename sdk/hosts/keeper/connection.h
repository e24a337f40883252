#pragma once

#include <optional>
#include <string>

#include "sdk/drivers/fd.h"

namespace hostler::machines {

/// A client. Takes a line of a request at a time, and reads on when its answer has been sent.
/// Threads: one.
class Connection {
 public:
  explicit Connection(driver::Fd fd) : fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }
  /// What to poll for.
  short events() const;
  /// Reads and writes what is possible without waiting. False: the client has gone.
  bool exchange(short events);
  /// The next request, if there is one and the last answer has been sent. Of a line that is longer
  /// than kLineMax it is the beginning.
  std::optional<std::string> next_line();
  void answer(const std::string& line) { out_ += line; }
  /// Ends when the answer has been sent: the rest of a line that is too long is not looked at.
  void close_soon() { closing_ = true; }

 private:
  bool send_some();

  driver::Fd fd_;
  std::string in_, out_;
  bool closing_ = false;
};

}  // namespace hostler::machines
