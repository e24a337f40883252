#include "core/cli/manual.h"

namespace hostler::cli {

std::vector<usage::Section> sections() {
  return {
      {"Exit status",
       {{"0", "done"},
        {"1", "failed"},
        {"2", "wrong arguments, or a request that was refused as malformed or too large"},
        {"3", "no daemon answers, or it cannot accept anything now"},
        {"4", "no such job, instance, pool, set or gate"},
        {"5", "not allowed, or in conflict with what is"},
        {"others",
         "submit --wait and wait: the job's own, 128+n on signal n, 124 at its time "
         "limit, 125 when it has none"}}},
      {"Environment",
       {{"HOSTLER_URL", "the daemon, unless --url names it"},
        {"HOSTLER_TOKEN_FILE", "a file with the token, unless --token-file names it"},
        {"HOSTLER_CA_FILE", "certificates, unless --ca-file names them"},
        {"HOSTLER_DRIVER_PATH", "more folders with drivers, with : between, for driver list"}}},
  };
}

usage::Completions completions() {
  return {.words = {{"STATE", "queued starting running collecting succeeded failed cancelled"},
                    {"MARKET", "on_demand spot"},
                    {"SHELL", "bash"},
                    {"SUBJECT", "site"},
                    {"URL", "unix:///run/hostler/hostler.sock"}},
          .asked = {{"JOB", {"jobs --limit 100"}},
                    {"INSTANCE", {"instances"}},
                    {"SUBJECT", {"jobs --limit 100", "instances"}}},
          .files = {"FILE", "PATH[=FILE]", "COMMAND"},
          .folders = {"FOLDER"}};
}

}  // namespace hostler::cli
