#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/cli/commands.h"
#include "core/cli/program.h"

namespace hostler::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPlaceholder = "mycloud";  ///< The name of the templates' driver.
constexpr std::size_t kTemplateFileMax = std::size_t{1} << 20U;

Result<void> check_new_name(const std::string& name) {
  const bool good = is_name(name) && name.front() >= 'a' && name.front() <= 'z';
  if (good) return {};
  return tl::unexpected(Error{Errc::kInvalidArgument, "a driver cannot be named '" +
                                                          printable(name, 80) +
                                                          "': use a small letter, then up to 62 "
                                                          "small letters, digits, _ and -"});
}

/// The named folder; else where the SDK is installed beside this program, or in its build tree.
Result<fs::path> find_sdk(const std::string& named, const std::string& language) {
  std::vector<fs::path> places{named};
  if (named.empty()) {
    const auto folder = program_folder();
    places = {folder / "../share/hostler-sdk", folder / "../../../sdk"};
  }
  std::string tried;
  for (const auto& place : places) {
    std::error_code problem;
    const auto sdk = fs::absolute(place, problem).lexically_normal();
    if (fs::is_directory(sdk / "templates" / language, problem) &&
        fs::is_regular_file(sdk / "driver.map", problem))
      return sdk;
    tried += (tried.empty() ? "" : ", ") + sdk.string();
  }
  return tl::unexpected(
      Error{Errc::kNotFound, "there are no templates (templates/" + language +
                                 " and driver.map) in " + tried +
                                 ": install the package hostler-sdk, or name its folder by --sdk"});
}

std::string with_name(std::string text, const std::string& name) {
  for (std::size_t at = 0; (at = text.find(kPlaceholder, at)) != std::string::npos;
       at += name.size())
    text.replace(at, kPlaceholder.size(), name);
  return text;
}

/// What is for all languages, then what is for this one.
Result<std::vector<fs::path>> files_of_template(const fs::path& sdk, const std::string& language) {
  std::vector<fs::path> out{sdk / "driver.map"};
  std::error_code problem;
  for (const auto& folder : {std::string("shared"), language}) {
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    for (fs::directory_iterator entry(sdk / "templates" / folder, problem), end;
         !problem && entry != end; entry.increment(problem))
      if (entry->is_regular_file(problem)) out.push_back(entry->path());
    std::sort(out.begin() + first, out.end());
  }
  if (problem)
    return tl::unexpected(
        Error{Errc::kInternal, "read the templates in " + sdk.string() + ": " + problem.message()});
  return out;
}

Result<std::vector<fs::path>> copy_template(const DriverNewOptions& options) {
  HOSTLER_TRY(check_new_name(options.name));
  const auto sdk = find_sdk(options.sdk, options.language);
  if (!sdk) return tl::unexpected(sdk.error());
  const auto files = files_of_template(*sdk, options.language);
  if (!files) return tl::unexpected(files.error());
  if (::mkdir(options.name.c_str(), 0777) != 0)
    return tl::unexpected(errno_error("make the folder " + options.name));
  std::vector<fs::path> made;
  for (const auto& file : *files) {
    const auto text = read_file(file, kTemplateFileMax);
    if (!text) return tl::unexpected(text.error());
    const auto to = fs::path(options.name) / with_name(file.filename().string(), options.name);
    HOSTLER_TRY(write_file(to, with_name(*text, options.name), 0644));
    made.push_back(to);
  }
  return made;
}

}  // namespace

int driver_new(const DriverNewOptions& options) {
  const auto made = copy_template(options);
  if (!made) return complain(made.error());
  for (const auto& file : *made) say(file.string());
  say("next: cd " + options.name + " && make");
  return exit_code::kOk;
}

}  // namespace hostler::cli
