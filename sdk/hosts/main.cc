// hostler-hosts makes machines for tests of drivers. README.md has its commands.

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "sdk/hosts/command/ask.h"
#include "sdk/hosts/command/keep.h"
#include "sdk/hosts/command/options.h"
#include "sdk/hosts/machine/namespaces.h"
#include "sdk/hosts/system/failure.h"

namespace hostler::machines {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;
constexpr int kImpossible = 3;

int probe() {
  const Account account = Account::own();
  check_possible(account, account.is_root());
  std::printf("{\"possible\":true,\"mode\":\"%s\",\"networks\":[%s\"loopback\"]}\n",
              account.is_root() ? "root" : "user", account.is_root() ? "\"bridge\"," : "");
  return 0;
}

int run_command(const std::vector<std::string>& words) {
  const Options options = read_options(words, ::geteuid() == 0);
  if (!options.help.empty()) return std::fputs(options.help.c_str(), stdout), 0;
  if (options.command == "probe") return probe();
  if (options.command == "run" || options.command == "serve") return keep(options);
  return ask(options);
}

}  // namespace
}  // namespace hostler::machines

int main(int argc, char** argv) {
  using namespace hostler::machines;
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    return run_command(words);
  } catch (const Failure& failure) {
    const bool is_usage = failure.code == "usage";
    std::fprintf(stderr, "hostler-hosts: %s%s\n", failure.what(),
                 is_usage ? "; see hostler-hosts --help" : "");
    return is_usage ? kWrongUsage : failure.code == "impossible" ? kImpossible : kFailed;
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "hostler-hosts: %s\n", wrong.what());
    return kFailed;
  }
}
