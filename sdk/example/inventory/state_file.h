// What must outlive the process: which machine is whose, and its tags. A cloud keeps this itself;
// an inventory needs a file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace inventory {

// One lending of a machine to hostler.
struct Lending {
  std::string id;       // "rack1-7.3": a machine that comes again is another instance
  std::string machine;  // its name
  std::int64_t since_ns = 0;
  bool over = false;  // the machine was given back; its key must never make another
  std::map<std::string, std::string> tags;
};
struct State {
  std::int64_t last = 0;                    // number of the newest lending
  std::map<std::string, Lending> lendings;  // by idempotency key
};

// Another process may use the same file: a new driver is opened before the old one is closed. So
// nothing of the file is kept in memory, and it is locked for the time of one call only.
// Threads: any. Functions throw driver::Error(HOSTLER_E_TRANSIENT) if the file cannot be used.
class StateFile {
 public:
  explicit StateFile(std::string path) : path_(std::move(path)) {}

  State read() const;
  // Writes what `change` makes of the state, whole or not at all, before it returns. If `change`
  // throws, the file stays as it is.
  void update(const std::function<void(State&)>& change) const;

 private:
  const std::string path_;
};

}  // namespace inventory
