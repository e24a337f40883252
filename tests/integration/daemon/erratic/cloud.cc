#include "cloud.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <hostler/driver.hpp>
#include <sstream>
#include <utility>

namespace hostler::erratic {
namespace {

using driver::Error;

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Fields fields_of(const std::string& line) {
  Fields out;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, '\t');) out.push_back(field);
  return out;
}

}  // namespace

/// The kernel releases it when the process dies.
class Cloud::Lock {
 public:
  explicit Lock(Cloud& cloud) : threads_(cloud.mutex_), fd_(cloud.fd_) {
    while (::flock(fd_, LOCK_EX) != 0) {
    }
    cloud.read_on();
  }
  ~Lock() { ::flock(fd_, LOCK_UN); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  const std::lock_guard<std::mutex> threads_;
  const int fd_;
};

Cloud::Cloud(const std::string& folder)
    : fd_(::open((folder + "/cloud").c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
  if (fd_ < 0) throw Error(HOSTLER_E_INVALID, "config.folder: no file `cloud` can be made there");
}

Cloud::~Cloud() { ::close(fd_); }

/// What others have done since.
void Cloud::read_on() {
  std::string text;
  char part[16384];
  for (ssize_t got = 0;
       (got = ::pread(fd_, part, sizeof part, read_ + static_cast<off_t>(text.size()))) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  std::size_t at = 0;
  for (std::size_t end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    take(fields_of(text.substr(at, end - at)));
  read_ += static_cast<off_t>(at);
  // A writer died in the middle of a line: what it says has not happened.
  if (at < text.size() && ::ftruncate(fd_, read_) != 0)
    throw Error(HOSTLER_E_INTERNAL, "the cloud cannot be written");
}

void Cloud::take(const Fields& line) {
  const std::string& word = line.at(1);
  if (word == "call") {
    ++calls_[line.at(2) + " " + line.at(3)];
  } else if (word == "made") {
    Machine machine{.id = line.at(2), .key = line.at(3), .digest = line.at(6), .tags = {}};
    for (std::size_t i = 7; i < line.size(); ++i)
      machine.tags[line[i].substr(0, line[i].find('='))] = line[i].substr(line[i].find('=') + 1);
    if (!machine.key.empty()) id_of_key_[machine.key] = machine.id;
    machines_[machine.id] = std::move(machine);
  } else if (word == "ended") {
    machines_.at(line.at(2)).ended = true;
  }
}

void Cloud::append(const Fields& line) {
  std::string text = std::to_string(now_us());
  for (const auto& field : line) text += "\t" + field;
  text += "\n";
  if (::write(fd_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw Error(HOSTLER_E_INTERNAL, "the cloud cannot be written");
  read_on();
}

std::uint64_t Cloud::begin(const std::string& function, const std::string& name) {
  const Lock lock(*this);
  append({"call", function, name});
  return calls_[function + " " + name] - 1;
}

void Cloud::note(const Fields& line) {
  const Lock lock(*this);
  append(line);
}

Machine Cloud::create(Machine wanted, const std::string& instance, const std::string& set) {
  const Lock lock(*this);
  if (const auto known = id_of_key_.find(wanted.key); known != id_of_key_.end()) {
    const Machine& first = machines_.at(known->second);
    const bool same = first.digest == wanted.digest;
    append({same ? "known" : "conflict", first.id});
    if (!same) throw Error(HOSTLER_E_CONFLICT, "the key is known with other arguments");
    return first;
  }
  const std::string id = "m-" + std::to_string(machines_.size() + 1);
  Fields line{"made", id, wanted.key, instance, set, wanted.digest};
  for (const auto& [name, value] : wanted.tags) line.push_back(name + "=" + value);
  append(line);
  return machines_.at(id);
}

std::vector<Machine> Cloud::machines() {
  const Lock lock(*this);
  std::vector<Machine> out;
  for (const auto& [id, machine] : machines_)
    if (!machine.ended) out.push_back(machine);
  return out;
}

void Cloud::destroy(const std::string& id, const std::string& expected_set) {
  const Lock lock(*this);
  const auto found = machines_.find(id);
  if (found == machines_.end() || found->second.ended) return;
  const bool its = found->second.tags["hostler-set"] == expected_set;
  append({its ? "ended" : "foreign", id, expected_set});
  if (!its) throw Error(HOSTLER_E_CONFLICT, id + " is another set's");
}

}  // namespace hostler::erratic
