#include "core/cli/manual.h"

namespace hostler::cli {

std::vector<usage::Section> sections() {
  return {
      {"Exit status",
       {{"0", "success"},
        {"1", "failure"},
        {"2", "wrong arguments, or the daemon refused the request as malformed or too large"},
        {"3", "no daemon answers, or the daemon cannot accept requests now"},
        {"4", "the job, lease, instance, pool, set or gate does not exist"},
        {"5", "not allowed, or in conflict with the current state"},
        {"6", "a quota is used up"},
        {"others",
         "submit --wait and wait: the job's exit status; 128+n after signal n, 124 after the "
         "time limit, 125 if the job has no exit status; lease --wait: 125 if the lease ended "
         "before "
         "it was granted"}}},
      {"Environment",
       {{"HOSTLER_URL", "address of the daemon, if --url is not given"},
        {"HOSTLER_TOKEN_FILE", "file with the token, if --token-file is not given"},
        {"HOSTLER_CA_FILE", "file with CA certificates, if --ca-file is not given"},
        {"HOSTLER_DRIVER_PATH", "for driver list: more folders with drivers, separated by :"}}},
  };
}

usage::Completions completions() {
  return {.words = {{"STATE", "queued starting running collecting held succeeded failed cancelled"},
                    {"LEASE-STATE", "waiting granting granted ending held ended"},
                    {"MARKET", "on_demand spot"},
                    {"SHELL", "bash"},
                    {"SUBJECT", "site"},
                    {"URL", "unix:///run/hostler/hostler.sock"}},
          .asked = {{"JOB", {"jobs --limit 100"}},
                    {"LEASE", {"leases"}},
                    {"WORK", {"jobs --limit 100", "leases"}},
                    {"POOL", {"pools"}},
                    {"SET", {"sets"}},
                    {"INSTANCE", {"instances"}},
                    {"SUBJECT", {"jobs --limit 100", "leases", "instances"}}},
          .files = {"FILE", "PATH[=FILE]", "COMMAND"},
          .folders = {"FOLDER"}};
}

}  // namespace hostler::cli
