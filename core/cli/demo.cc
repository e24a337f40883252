#include <algorithm>

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/cli/commands.h"
#include "core/cli/demo_site.h"
#include "core/json/writer.h"

/// A complete example on this machine. For each licence text one job counts its words, compresses
/// it and computes its checksum, on a host that the local driver created and SSH verified. One more
/// job merges the results.
namespace hostler::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTexts = "/usr/share/common-licenses";

/// The script of each job. compute_directly() runs the same script.
std::string measure(const std::string& name, const std::string& text) {
  return "words=$(wc -w < " + text + "); packed=$(gzip -9 -c < " + text +
         " | wc -c); sum=$(sha256sum < " + text +
         " | cut -c1-16); printf '%-14s %7d %7d  %s\\n' '" + name +
         "' \"$words\" \"$packed\" \"$sum\"";
}
constexpr const char* kMerge =
    "LC_ALL=C sort *.result; cat *.result | awk '{w += $2; p += $3} END "
    "{printf \"%-14s %7d %7d\\n\", \"total\", w, p}'";

std::vector<fs::path> texts() {
  std::vector<fs::path> out;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(kTexts, problem))
    if (!entry.is_symlink() && entry.is_regular_file()) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

Result<std::string> run_here(const std::string& script) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(script.c_str(), "re"), ::pclose);
  if (!pipe) return tl::unexpected(errno_error("start a shell"));
  std::string out;
  for (int c; (c = std::fgetc(pipe.get())) != EOF;) out += static_cast<char>(c);
  return out;
}

/// Computes the expected result without hostler.
Result<std::string> compute_directly(const std::vector<fs::path>& files, const fs::path& folder) {
  fs::create_directories(folder);
  for (const auto& file : files) {
    const auto line = HOSTLER_TRY(run_here(measure(file.filename(), file)));
    HOSTLER_TRY(write_file(folder / (file.filename().string() + ".result"), line, 0644));
  }
  return run_here("cd " + folder.string() + " && " + kMerge);
}

Result<void> run_jobs(DemoSite& site, const std::vector<fs::path>& files) {
  std::map<std::string, std::string> ids;
  std::printf("submitting %zu jobs, one for each text in %s\n", files.size(), kTexts);
  for (const auto& file : files) {
    SubmitOptions job;
    job.name = file.filename();
    job.inputs = {"text=" + file.string()};
    job.outputs = {"*.result"};
    job.command = {"sh", "-c", measure(job.name, "text") + " > '" + job.name + ".result'"};
    ids[job.name] = HOSTLER_TRY(site.submit(job));
  }
  HOSTLER_TRY(site.wait_for_jobs(ids.size()));
  const fs::path results = site.folder() / "results";
  for (const auto& [name, id] : ids) HOSTLER_TRY(site.fetch(id, results));
  return {};
}

Result<std::string> merge(DemoSite& site, std::size_t jobs_before) {
  SubmitOptions job;
  job.name = "merge";
  for (const auto& entry : fs::directory_iterator(site.folder() / "results"))
    job.inputs.push_back(entry.path().filename().string() + "=" + entry.path().string());
  std::sort(job.inputs.begin(), job.inputs.end());
  job.command = {"sh", "-c", kMerge};
  std::printf("submitting a job that merges the %zu results\n", job.inputs.size());
  const auto id = HOSTLER_TRY(site.submit(job));
  HOSTLER_TRY(site.wait_for_jobs(jobs_before + 1));
  return site.standard_output(id);
}

Result<void> run(DemoSite& site) {
  const auto files = texts();
  if (files.empty()) return fail(Errc::kNotFound, std::string("no texts in ") + kTexts);
  HOSTLER_TRY(site.start());
  HOSTLER_TRY(run_jobs(site, files));
  const auto merged = HOSTLER_TRY(merge(site, files.size()));
  std::printf("\n%-14s %7s %7s  %s\n%s\n", "text", "words", "packed", "sha256", merged.c_str());
  const auto direct = HOSTLER_TRY(compute_directly(files, site.folder() / "direct"));
  if (merged != direct)
    return fail(Errc::kInternal,
                "the merged result differs from the one computed directly:\n" + direct);
  std::puts("a computation without hostler gives the same result");
  HOSTLER_TRY(site.wait_for_no_instances());
  std::puts("all instances have been destroyed");
  return {};
}

}  // namespace

int demo() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  auto site = DemoSite::make();
  if (!site) return complain(site.error());
  const auto done = run(**site);
  const auto stopped = (*site)->stop(done.has_value());
  if (!done) {
    std::fprintf(stderr, "hostler demo: %s\n", done.error().message.c_str());
    std::fprintf(stderr, "the daemon's log and state are kept in %s\n", (*site)->folder().c_str());
    return exit_code::kFailed;
  }
  if (!stopped) return complain(stopped.error());
  std::puts("the demo has passed; nothing is left running");
  return exit_code::kOk;
}

}  // namespace hostler::cli
