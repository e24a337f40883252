#include "sdk/check/options.h"

#include <getopt.h>

#include <array>
#include <cstdlib>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/crypto/random.h"

namespace hostler::check {
namespace {

constexpr int kBudgetMax = 100;
constexpr std::uint64_t kSeedMax =
    1'000'000'000;  // of those that the kit chooses, for people to type

enum Choice : int {
  kConfig = 256,
  kFormat,
  kOnly,
  kListTests,
  kSeed,
  kLive,
  kBudget,
  kInProcess,
  kDeadline,
  kPatience,
  kTimeout,
  kBootMax,
  kHelp
};

constexpr std::array<option, 15> kOptions{{{"config", required_argument, nullptr, kConfig},
                                           {"format", required_argument, nullptr, kFormat},
                                           {"only", required_argument, nullptr, kOnly},
                                           {"list-tests", no_argument, nullptr, kListTests},
                                           {"seed", required_argument, nullptr, kSeed},
                                           {"reproduce", required_argument, nullptr, kSeed},
                                           {"live", no_argument, nullptr, kLive},
                                           {"budget", required_argument, nullptr, kBudget},
                                           {"in-process", no_argument, nullptr, kInProcess},
                                           {"deadline", required_argument, nullptr, kDeadline},
                                           {"patience", required_argument, nullptr, kPatience},
                                           {"timeout", required_argument, nullptr, kTimeout},
                                           {"boot-max", required_argument, nullptr, kBootMax},
                                           {"help", no_argument, nullptr, kHelp},
                                           {nullptr, 0, nullptr, 0}}};

Result<void> read_time(Duration& out, std::string_view text) {
  out = HOSTLER_TRY(parse_duration(text));
  if (out <= Duration{}) return fail(Errc::kInvalidArgument, "a time above 0 is needed");
  return {};
}

Result<std::uint64_t> read_number(std::string_view text, std::uint64_t min, std::uint64_t max) {
  const auto number = parse_u64(text);
  if (!number || *number < min || *number > max)
    return fail(Errc::kInvalidArgument, "a number from " + std::to_string(min) + " to " +
                                            std::to_string(max) + " is needed, not " +
                                            printable(text, 40));
  return *number;
}

Result<void> read_one(Options& out, int choice, std::string_view text) {
  switch (choice) {
    case kConfig:
      out.config = text;
      return {};
    case kFormat:
      out.format = text;
      if (text == "text" || text == "json" || text == "junit") return {};
      return fail(Errc::kInvalidArgument, "--format is text, json or junit");
    case kOnly:
      out.only.emplace_back(text);
      return {};
    case kListTests:
      out.lists_tests = true;
      return {};
    case kSeed:
      out.seed = HOSTLER_TRY(read_number(text, 0, UINT64_MAX));
      return {};
    case kLive:
      out.is_live = true;
      return {};
    case kBudget:
      out.budget = static_cast<int>(HOSTLER_TRY(read_number(text, 1, kBudgetMax)));
      return {};
    case kInProcess:
      out.in_process = true;
      return {};
    case kDeadline:
      return read_time(out.deadline, text);
    case kPatience:
      return read_time(out.patience, text);
    case kTimeout:
      return read_time(out.timeout, text);
    case kBootMax:
      return read_time(out.boot_max, text);
    default:
      return fail(Errc::kInvalidArgument, "there is no such option, or it needs a value");
  }
}

}  // namespace

const char* help_text() {
  return "Usage: driver-check [OPTIONS] FILE.so\n"
         "Checks a cloud driver against the rules of hostler/driver.h.\n\n"
         "  --config FILE      What cloud to use (driver-check.json beside the driver)\n"
         "  --only GLOB        Only tests of these names, e.g. 'call.*'; repeat for more\n"
         "  --list-tests       List the tests, and run none\n"
         "  --format FORMAT    text, json or junit (text)\n"
         "  --seed N           Seed of the random choices; --reproduce N is the same\n"
         "  --live             Also make machines in the cloud of --config, and destroy them\n"
         "  --budget N         At most so many machines at once (3)\n"
         "  --boot-max TIME    How long a machine may take to boot (10m)\n"
         "  --deadline TIME    Of a call (30s)\n"
         "  --patience TIME    How long a call may go on after its cancel (10s)\n"
         "  --timeout TIME     Of a test (120s)\n"
         "  --in-process       No process for each test: for a debugger\n\n"
         "Exit status: 0 if nothing failed, 1 if a test failed, 2 for wrong arguments.\n";
}

Result<std::optional<Options>> read_options(int argc, char** argv) {
  Options out;
  out.seed = crypto::random_seed() % kSeedMax;
  ::opterr = 0;
  for (int choice = 0; (choice = ::getopt_long(argc, argv, "h", kOptions.data(), nullptr)) != -1;) {
    if (choice == kHelp || choice == 'h') return std::optional<Options>();
    const std::string given = argv[::optind - 1];
    if (auto read = read_one(out, choice, ::optarg == nullptr ? "" : ::optarg); !read)
      return tl::unexpected(std::move(read).error().with_context(given));
  }
  if (!out.lists_tests && ::optind != argc - 1)
    return fail(Errc::kInvalidArgument, "one driver is needed: driver-check FILE.so");
  if (::optind < argc) out.library = argv[::optind];
  return std::optional(std::move(out));
}

}  // namespace hostler::check
