#include "sdk/check/rules.h"

#include <algorithm>
#include <iterator>

namespace hostler::check {
namespace {

struct Advice {
  std::string_view rule, text;
};

constexpr Advice kAdvices[]{
    {"R1", "export hostler_driver_entry_1 and nothing else: link with sdk/driver.map"},
    {"R2",
     "do nothing in static constructors and in the entry function: the work of a set begins "
     "in set_open"},
    {"R3", "keep all state in the set: there is no global one"},
    {"R4", "return the table if host->abi_major is HOSTLER_ABI_MAJOR, and NULL otherwise"},
    {"R5", "build the driver with the header of this SDK"},
    {"R6",
     "check the number before it goes into the record; what is not known has the value that "
     "driver.h says"},
    {"R9",
     "emit and return only what your driver.h defines; answer what a request says and you do "
     "not know with UNSUPPORTED (law 6)"},
    {"R10",
     "read a text up to its len, an array up to its n, and a field that is newer than 1.0 "
     "through HOSTLER_HAS only"},
    {"R13", "implement every function of the table up to the mark"},
    {"R14", "claim a capability in set_info only if get_extension has the functions for it"},
    {"R15", "set struct_size to sizeof the struct, before the record is emitted"},
    {"R16", "copy what you need of the request before the function returns PENDING"},
    {"R18", "set *out before set_open returns OK"},
    {"R19",
     "emit UTF-8 without NUL, with a pointer where there is a length; turn other bytes of "
     "the cloud into text first"},
    {"R22", "set HOSTLER_TEXT_MESSAGE before a status below 0: what failed, and what to do"},
    {"R24", "set HOSTLER_EF_OUTCOME_UNKNOWN on each error after the request may have left"},
    {"R25", "stop the threads of the set and wait for them: set_close has 5 s"},
    {"R26",
     "end each operation once: by the status of the function, or by PENDING and one "
     "complete(); touch nothing of it afterwards; a watch goes on until its deadline or a cancel"},
    {"R27",
     "emit from one thread at a time, and end with CANCELLED when emit() returns other than "
     "0"},
    {"R28", "emit the instance, with its id, as soon as the cloud has given it, and no other"},
    {"R29", "call on_cancel(op, NULL, NULL) before the function returns"},
    {"R30", "let the cancel function only set a flag or wake the worker"},
    {"R31",
     "register on_cancel, give every wait and every transfer the deadline of the op, and "
     "return within 2 s of a cancel"},
    {"R32",
     "look for the idempotency key first, in the tag hostler-key if the cloud has no token "
     "for it, and emit the instance that has it"},
    {"R33", "emit all that matches, or return an error"},
    {"R34",
     "check the config against the schema in set_open, name the field in the message, and "
     "emit exactly one record in set_info"},
    {"R35", "say in the table how many calls may run at once, and protect what they share"},
    {"R37",
     "join every thread of the set in set_close, and use nothing of the host after it; name only "
     "sets that are open"},
    {"R39", "return NULL for ids that you do not know, and the same table each time for others"},
    {"R40",
     "place the host key before sshd starts, run user data, or say whose the key is by "
     "hostler.host-key/1 or the console"},
    {"R41", "write by host->log; standard output and error are not the driver's"},
    {"R42", "leave credentials out of messages, tags and records; quote no request of the cloud"},
    {"R44",
     "leave the process alone: its signals, locale, folder, environment, umask, its "
     "descriptors and its end belong to the host"},
    {"R45", "catch everything in each function, as hostler::driver::guard() does"},
    {"R47",
     "link with -Wl,-z,defs,-z,now,-z,relro,--exclude-libs,ALL, and other libraries "
     "statically"},
    {"R48", "build on the oldest system that the driver is for"},
    {"R49",
     "build with -fPIC and -ftls-model=global-dynamic, without executable stack and RUNPATH"},
    {"R55", "write the manifest again: hostler driver manifest FILE.so"},
    {"R61", "make the group of the type and market alone, and keep it while the set is open"},
    {"R62",
     "where the cloud gives an id again, add to it what differs: a number that only grows, or the "
     "time of the create"},
    {"R63",
     "pass on all tags of the request in the call that makes the thing, and copy them to disks, "
     "addresses and the like that may be left"},
    {"R64",
     "tell the gpus of a type in groups of equal ones, whose counts together are `gpus`, with "
     "kinds "
     "as hostler::driver::gpu_kind() makes them; or tell no groups"},
    {"R23", "choose the status by what the host is to do, see driver.h"},
    {"machine", "see sdk/machine.md: who logs in with which key, and what is there before sshd"},
    {"limit", "keep within the limits of hostler_host, and free what each call has taken"},
    {"config",
     "check config and credentials in the file of --config: with them set_open has to succeed"},
    {"kit",
     "this is a fault of the kit or of this computer, not of the driver: report it with this "
     "output"},
    {"refused",
     "this is no fault of the driver if its status is the one that driver.h has for the cloud's "
     "answer"},
    {"replay",
     "compare the two calls in the driver's log: the same request must end in the same way"},
    {"crash", "run the test alone in a debugger: driver-check --in-process --only TEST"},
};

}  // namespace

std::string_view advice_for(std::string_view rule) {
  const auto* const found = std::find_if(std::begin(kAdvices), std::end(kAdvices),
                                         [&](const Advice& advice) { return advice.rule == rule; });
  return found == std::end(kAdvices) ? std::string_view() : found->text;
}

}  // namespace hostler::check
