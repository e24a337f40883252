#include "core/ssh/init_script.h"

#include "core/ssh/scripts.h"

namespace hostler::ssh {
namespace {

using scripts::end_of;
using scripts::fill;

/// The state of the init command, and what runs it.
std::string functions(std::string_view instance, bool run) {
  std::string out = fill(scripts::kInitFunctions, {{"INSTANCE", instance}});
  return run ? out.append(scripts::kInitRun) : out;
}

}  // namespace

std::string make_init_script(const InitScript& script) {
  const bool has_command = !script.command.empty();
  std::string head, state(scripts::kInitNoCommand), host_key;
  if (has_command || script.command_comes_later) head = functions(script.instance, has_command);
  if (has_command)
    state = fill(scripts::kInitCommand, {{"COMMAND", script.command},
                                         {"COMMAND_END", end_of(script.command)},
                                         {"BEGIN", scripts::kInitBegin}});
  else if (script.command_comes_later)
    state = scripts::kInitAwait;
  if (!script.host_private_key.empty())
    host_key = fill(scripts::kInitHostKey, {{"PUBLIC_KEY", script.host_public_key},
                                            {"PRIVATE_KEY", script.host_private_key}});
  return "#!/bin/sh\n" +
         fill(scripts::kInit, {{"FUNCTIONS", head},
                               {"STATE", state},
                               {"SECRET", script.secret},
                               {"HOST_KEY", host_key},
                               {"COMMAND", has_command ? "hostler_command\n" : ""}});
}

std::string make_init_delivery(const std::string& command, const std::string& instance) {
  const std::string start = fill(scripts::kDeliverStart, {{"FUNCTIONS", functions("$1", true)},
                                                          {"BEGIN", scripts::kInitBegin}});
  return fill(scripts::kDeliver, {{"INSTANCE", instance.empty() ? "?*" : instance},
                                  {"COMMAND", command},
                                  {"COMMAND_END", end_of(command)},
                                  {"START", start},
                                  {"START_END", end_of(start)}});
}

}  // namespace hostler::ssh
