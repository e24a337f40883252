#include "sdk/hosts/keeper/fleet.h"

#include <unistd.h>

#include <charconv>
#include <chrono>
#include <utility>

#include "sdk/hosts/system/failure.h"
#include "sdk/hosts/system/files.h"
#include "sdk/hosts/system/program.h"

namespace hostler::machines {
namespace {

constexpr std::size_t kKeysKept = 100'000;

std::int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

/// "ssh-ed25519 AAAA...", without the comment.
std::string without_comment(const std::string& line) {
  const auto first = line.find(' ');
  return line.substr(0, line.find_first_of(" \n", first + 1));
}

struct HostKey {
  std::string secret, open;
};

/// The key of the request, or a new one. The files are in memory.
HostKey host_key_of(const std::string& given) {
  const std::string path = std::string(kScratch) + "/host_key";
  ::unlink(path.c_str());
  if (given.empty()) {
    run_program({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path}, "");
    ::unlink((path + ".pub").c_str());
  } else {
    write_file(path, given.back() == '\n' ? given : given + "\n", 0600);
  }
  HostKey key;
  try {
    key.open = without_comment(run_program({"ssh-keygen", "-y", "-P", "", "-f", path}, ""));
  } catch (const Failure&) {
    ::unlink(path.c_str());
    invalid("`host_key` must be a private key in OpenSSH's format, without a passphrase");
  }
  key.secret = read_file(path, std::size_t{64} * 1024);
  ::unlink(path.c_str());
  return key;
}

}  // namespace

MachineRecord Fleet::create(const CreateSpec& spec) {
  if (const auto known = keys_.find(spec.key); known != keys_.end()) {
    const auto found = members_.find(known->second);
    if (found == members_.end())
      throw Failure("conflict", "the machine of this `key`, " + known->second + ", was destroyed");
    if (!(found->second.machine->spec() == spec))
      throw Failure("conflict",
                    "`key` belongs to " + known->second + ", which was created by another request");
    return found->second.machine->record();
  }
  if (static_cast<int>(members_.size()) >= machines_max_)
    throw Failure("limit", "there are " + std::to_string(members_.size()) +
                               " machines, as many as --max allows");
  if (keys_.size() >= kKeysKept) throw Failure("limit", "this keeper has made too many machines");
  const int number = network_.take();
  const std::string id = "h-" + std::to_string(created_ + 1);
  try {
    Member& made = members_[id];
    made.number = number;
    made.machine = start(spec, id, number);
    ++created_;
    keys_[spec.key] = id;
    return made.machine->record();
  } catch (const Failure&) {
    members_.erase(id);
    network_.give_back(number);
    throw;
  }
}

std::unique_ptr<Machine> Fleet::start(const CreateSpec& spec, const std::string& id, int number) {
  BootPlan plan;
  const HostKey key = host_key_of(spec.host_key);
  plan.id = id;
  plan.account = account_;
  plan.spec = spec;
  plan.host_key = key.secret;
  plan.host_key_public = key.open;
  plan.address = network_.address(number);
  plan.port = network_.port();
  plan.bridge = network_.is_bridge();
  auto machine = std::make_unique<Machine>(std::move(plan), now_ms());
  network_.connect(number, machine->pid());
  machine->go();
  return machine;
}

std::vector<MachineRecord> Fleet::list() const {
  std::vector<MachineRecord> records;
  for (const auto& [id, member] : members_) records.push_back(member.machine->record());
  return records;
}

/// Ids are counted, so that it is known which have been given.
bool Fleet::was_there(const std::string& id) const {
  int number = 0;
  const char* end = id.data() + id.size();
  if (id.compare(0, 2, "h-") != 0) return false;
  const auto [stop, error] = std::from_chars(id.data() + 2, end, number);
  return error == std::errc{} && stop == end && number >= 1 && number <= created_ &&
         id == "h-" + std::to_string(number);
}

const Fleet::Member& Fleet::member(const std::string& id) const {
  const auto found = members_.find(id);
  if (found != members_.end()) return found->second;
  throw Failure("not_found", was_there(id) ? "the machine `id` was destroyed"
                                           : "there is no machine with this `id`");
}

MachineRecord Fleet::tag(const Request& request) {
  Machine& machine = *member(request.id).machine;
  Tags tags = machine.tags();
  for (const auto& [key, value] : request.tags) {
    if (value)
      tags[key] = *value;
    else
      tags.erase(key);
  }
  check_tags(tags);
  machine.tags() = std::move(tags);
  return machine.record();
}

void Fleet::destroy(const std::string& id) {
  const auto found = members_.find(id);
  if (found == members_.end()) {
    if (was_there(id)) return;
    throw Failure("not_found", "there is no machine with this `id`");
  }
  const int number = found->second.number;
  members_.erase(found);
  network_.disconnect(number);
  network_.give_back(number);
}

const std::string& Fleet::console(const std::string& id) const {
  return member(id).machine->console();
}

KeeperInfo Fleet::info() const {
  KeeperInfo info;
  info.mode = account_.is_root() ? "root" : "user";
  info.network = network_.is_bridge() ? "bridge" : "loopback";
  info.user = account_.name;
  info.machines = static_cast<int>(members_.size());
  info.machines_max = machines_max_;
  return info;
}

void Fleet::reap() {
  for (auto& [id, member] : members_) member.machine->reap();
}

std::vector<Machine*> Fleet::with_console() {
  std::vector<Machine*> machines;
  for (auto& [id, member] : members_)
    if (member.machine->console_fd() >= 0) machines.push_back(member.machine.get());
  return machines;
}

}  // namespace hostler::machines
