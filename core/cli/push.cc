#include <string>
#include <vector>

#include "core/base/text.h"
#include "core/cli/commands.h"
#include "core/cli/job_text.h"
#include "core/model/push.h"

namespace hostler::cli {
namespace {

/// "WHAT: a b", or nothing for an empty list.
void say_names(const char* what, json::Value names) {
  std::string line;
  for (const json::Value name : names.children()) line += " " + printable(name.text());
  if (!line.empty()) say(std::string(what) + ":" + line);
}

/// A task that no host of the pool can ever run.
void say_never_fits(json::Value task) {
  std::string slots;
  for (const json::Value each : task.at("slots_that_would_do").children())
    slots += (slots.empty() ? "" : " or ") + std::string(each.text());
  say("never fits: " + printable(field(task, "id")) +
      (slots.empty() ? ", the hosts of the pool have no slots"
                     : ", it would with " + slots + " slots"));
}

}  // namespace

int push(Client& client, const PushOptions& options) {
  const auto body = read_argument(options.file, model::kPushBytesMax);
  if (!body) {
    Error error = body.error();
    return complain(std::move(error).with_context("--file"));
  }
  const auto answer = client.put("/v1/pools/" + escape(options.pool) + "/scaling-info", *body);
  if (!answer) return complain(answer.error());
  const json::Value told = answer->root();
  if (options.json) return print_json(told);
  say("answer: " + field(told, "answer"));
  say_names("going", told.at("going"));
  say_names("unknown agents", told.at("unknown_agents"));
  for (const json::Value task : told.at("never_fits").children()) say_never_fits(task);
  return exit_code::kOk;
}

}  // namespace hostler::cli
