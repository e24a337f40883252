#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace hostler::erratic {

using Fields = std::vector<std::string>;

struct Machine {
  std::string id, key, digest;
  std::map<std::string, std::string> tags;
  bool ended = false;
};

/// A cloud that is a file, see README.md. Any number of processes and threads use it at once; an
/// effect has happened or not, whenever one of them is killed. Throws driver::Error.
class Cloud {
 public:
  explicit Cloud(const std::string& folder);
  ~Cloud();
  Cloud(const Cloud&) = delete;
  Cloud& operator=(const Cloud&) = delete;

  /// Notes that a call begins. \return how many such calls there were before.
  std::uint64_t begin(const std::string& function, const std::string& name);
  void note(const Fields& line);

  /// The machine of `wanted.key`, which may have ended: it is made if there has never been one.
  /// `instance` is hostler's id of it, `set` the set that asks.
  Machine create(Machine wanted, const std::string& instance, const std::string& set);
  /// Those that have not ended, by id.
  std::vector<Machine> machines();
  void destroy(const std::string& id, const std::string& expected_set);

 private:
  class Lock;

  void read_on();
  void take(const Fields& line);
  void append(const Fields& line);

  std::mutex mutex_;
  const int fd_;
  off_t read_ = 0;  ///< So much of the file is known.
  std::map<std::string, Machine> machines_;
  std::map<std::string, std::string> id_of_key_;
  std::map<std::string, std::uint64_t> calls_;
};

}  // namespace hostler::erratic
