#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/base/text.h"
#include "tests/fuzz/target.h"

/// Runs a fuzz target without libFuzzer, with any compiler: first on files, then on mutations of
/// them.
///
///   fuzz_TARGET [--mutations=N] [--keep=FILE] FILE|FOLDER...
///
/// The inputs are the same in every run. If an input ends the process, it is kept in FILE.
namespace hostler::fuzz {
namespace {

constexpr std::size_t kInputMax = std::size_t{1} << 20;

struct Arguments {
  std::size_t mutations = 0;
  std::string keep = "fuzz-input";
  std::vector<std::string> inputs;  ///< The contents of the files.
};

/// Memory shared with the process that runs the target, so that the input survives a crash.
struct Tried {
  std::size_t runs;
  std::size_t size;
  std::uint8_t bytes[kInputMax];
};

std::vector<std::filesystem::path> files_of(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> out;
  if (std::filesystem::is_directory(path)) {
    for (const auto& entry : std::filesystem::directory_iterator(path)) out.push_back(entry.path());
    std::ranges::sort(out);
  } else {
    out.push_back(path);
  }
  return out;
}

Result<Arguments> read_arguments(const std::vector<std::string>& words) {
  constexpr std::string_view kMutations = "--mutations=", kKeep = "--keep=";
  Arguments out;
  for (const std::string& word : words) {
    if (word.starts_with(kMutations)) {
      out.mutations = parse_u64(word.substr(kMutations.size())).value_or(0);
    } else if (word.starts_with(kKeep)) {
      out.keep = word.substr(kKeep.size());
    } else {
      for (const auto& file : files_of(word))
        out.inputs.push_back(HOSTLER_TRY(read_file(file, kInputMax)));
    }
  }
  if (out.inputs.empty()) return fail(Errc::kInvalidArgument, "no input: name files or folders");
  return out;
}

/// Makes new inputs from others. Uses only the generator `random`, so every run is the same.
class Mutator {
 public:
  explicit Mutator(const std::vector<std::string>& inputs) : inputs_(inputs) {}

  std::string next() {
    std::string out = any();
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(out);
    out.resize(std::min(out.size(), kInputMax));
    return out;
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % std::max<std::size_t>(bound, 1); }
  const std::string& any() { return inputs_[below(inputs_.size())]; }

  void change(std::string& out) {
    constexpr std::string_view kOdd("\0\1\x7f\x80\xff\n\r \"\\{}[],:%/.0-", 20);
    const std::size_t at = below(out.size());
    const std::size_t length = 1 + below(std::min<std::size_t>(out.size() - at, 32));
    switch (out.empty() ? 4 : below(7)) {
      case 0:
        out[at] = static_cast<char>(out[at] ^ (1 << below(8)));
        break;
      case 1:
        out[at] = kOdd[below(kOdd.size())];
        break;
      case 2:
        out.erase(at, length);
        break;
      case 3:
        out.insert(at, out.substr(below(out.size()), length));
        break;
      case 4:
        out.insert(at, 1 + below(4), kOdd[below(kOdd.size())]);
        break;
      case 5:
        out.resize(at);
        break;
      default: {
        const std::string& other = any();
        out = out.substr(0, at) + other.substr(below(other.size()));
      }
    }
  }

  const std::vector<std::string>& inputs_;
  std::mt19937_64 random_{1};
};

void try_all(const Arguments& arguments, Tried& tried) {
  const auto try_one = [&](const std::string& input) {
    ++tried.runs;
    tried.size = input.size();
    std::memcpy(tried.bytes, input.data(), input.size());
    // A copy of exactly this size, so that a sanitizer notices a read beyond its end.
    const std::vector<std::uint8_t> bytes(input.begin(), input.end());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  };
  for (const std::string& input : arguments.inputs) try_one(input);
  Mutator mutator(arguments.inputs);
  for (std::size_t i = 0; i < arguments.mutations; ++i) try_one(mutator.next());
}

int report(int status, const Arguments& arguments, const Tried& tried) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    std::cout << tried.runs << " inputs, all is well\n";
    return 0;
  }
  const std::string_view input(reinterpret_cast<const char*>(tried.bytes), tried.size);
  const auto kept = write_file(arguments.keep, input, 0644);
  std::cout << "input " << tried.runs << " of " << tried.size << " bytes ended the process; "
            << (kept ? "it is in " + arguments.keep : kept.error().message) << "\n";
  return 1;
}

int run(const Arguments& arguments) {
  void* const shared =
      ::mmap(nullptr, sizeof(Tried), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return std::perror("mmap"), 2;
  auto& tried = *static_cast<Tried*>(shared);
  const pid_t child = ::fork();
  if (child < 0) return std::perror("fork"), 2;
  if (child == 0) {
    try_all(arguments, tried);
    std::exit(0);  // a sanitizer may still report something at exit
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return report(status, arguments, tried);
}

}  // namespace
}  // namespace hostler::fuzz

int main(int argc, char** argv) {
  const auto arguments = hostler::fuzz::read_arguments({argv + 1, argv + argc});
  if (arguments) return hostler::fuzz::run(*arguments);
  std::cerr << arguments.error().message << "\n";
  return 2;
}
