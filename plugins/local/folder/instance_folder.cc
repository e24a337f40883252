#include "folder/instance_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>

#include "folder/files.h"

namespace hostler::local {
namespace {

constexpr std::array kWanted = {"running", "stopped", "destroyed"};
constexpr std::array kPhases = {"new", "booting", "running", "stopped", "failed"};

template <class Enum, std::size_t N>
Enum enum_of(const std::array<const char*, N>& names, const std::string& name) {
  for (std::size_t i = 0; i < N; ++i)
    if (name == names[i]) return static_cast<Enum>(i);
  throw std::runtime_error("`" + name + "` is unknown");
}

Fields fields_of(const std::string& path) {
  const std::optional<std::string> text = read_file(path);
  if (!text) return {};
  try {
    return Fields::parse(*text);
  } catch (const std::exception& wrong) {
    throw std::runtime_error(path + " " + wrong.what());
  }
}

}  // namespace

void InstanceFolder::remove() const {
  remove_tree(path_, {"record", "tags", "boot", "state", "order", "lock"});
}

Order InstanceFolder::order() const {
  const Fields fields = fields_of(path_ + "/order");
  return {enum_of<Wanted>(kWanted, fields.get("wanted", "running")), fields.has("graceful")};
}

void InstanceFolder::give_order(const Order& order) const {
  Fields fields;
  fields.set("wanted", kWanted[static_cast<std::size_t>(order.wanted)]);
  if (order.graceful) fields.set("graceful", "yes");
  write_file(path_ + "/order", fields.text());
}

bool InstanceFolder::poke() const {
  const driver::Fd fd(::open(control().c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return false;  // ENXIO: no reader; ENOENT: no supervisor yet, or the folder was removed
  const char byte = '!';
  // If the pipe is full, the reader will wake up anyway.
  return ::write(fd.get(), &byte, 1) == 1 || errno == EAGAIN;
}

State InstanceFolder::state() const {
  const Fields fields = fields_of(path_ + "/state");
  State state;
  state.phase = enum_of<Phase>(kPhases, fields.get("phase", "new"));
  state.reason = fields.get("reason");
  state.boot_id = fields.get("boot_id");
  state.generation = fields.number("generation");
  state.launched_unix_ns = fields.number("launched_unix_ns");
  state.confinement = fields.get("confinement");
  state.keeper = Process::parse(fields.get("keeper"));
  state.machine = Process::parse(fields.get("machine"));
  return state;
}

void InstanceFolder::set_state(const State& state) const {
  Fields fields;
  fields.set("phase", kPhases[static_cast<std::size_t>(state.phase)]);
  fields.set("reason", state.reason);
  fields.set("boot_id", state.boot_id);
  fields.set("generation", state.generation);
  fields.set("launched_unix_ns", state.launched_unix_ns);
  fields.set("confinement", state.confinement);
  fields.set("keeper", state.keeper.text());
  fields.set("machine", state.machine.text());
  write_file(path_ + "/state", fields.text());
}

BootPlan InstanceFolder::boot_plan() const {
  const Fields fields = fields_of(path_ + "/boot");
  BootPlan plan;
  plan.sshd = fields.get("sshd", "/usr/sbin/sshd");
  plan.account = fields.get("account");
  plan.confinement = fields.get("confinement", "auto");
  plan.delay_ms = fields.number("delay_ms");
  plan.init_wait_ms = fields.number("init_wait_ms", plan.init_wait_ms);
  plan.sshd_delay_ms = fields.number("sshd_delay_ms");
  plan.key_change_ms = fields.number("key_change_ms", -1);
  plan.ram_bytes = fields.number("ram_bytes");
  plan.own_shadow = fields.has("own_shadow");
  return plan;
}

void InstanceFolder::set_boot_plan(const BootPlan& plan) const {
  Fields fields;
  fields.set("sshd", plan.sshd);
  fields.set("account", plan.account);
  fields.set("confinement", plan.confinement);
  fields.set("delay_ms", plan.delay_ms);
  fields.set("init_wait_ms", plan.init_wait_ms);
  fields.set("sshd_delay_ms", plan.sshd_delay_ms);
  fields.set("key_change_ms", plan.key_change_ms);
  fields.set("ram_bytes", plan.ram_bytes);
  if (plan.own_shadow) fields.set("own_shadow", "yes");
  write_file(path_ + "/boot", fields.text());
}

}  // namespace hostler::local
