#include <cstdio>
#include <filesystem>

#include "core/base/files.h"
#include "core/cli/commands.h"
#include "core/cli/plan_text.h"
#include "core/json/writer.h"
#include "core/planning/answer.h"
#include "core/planning/read.h"

/// Questions: what is there, and what would happen now, after a submit, or after a reload.
namespace hostler::cli {
namespace {

constexpr std::size_t kProblemsShown = 10, kConfigMax = std::size_t{4} << 20;

/// The first problems, one line each, and how many more there are.
template <class Text>
int complain_of(const std::string& file, std::size_t count, Text text) {
  for (std::size_t i = 0; i < std::min(count, kProblemsShown); ++i) warn(file + ": " + text(i));
  if (count > kProblemsShown)
    warn(file + ": and " + std::to_string(count - kProblemsShown) + " more problems");
  return exit_code::kFailed;
}

int show_plan(json::Value answer, bool json) {
  if (json) return print_json(answer);
  print_plan(answer);
  return exit_code::kOk;
}

}  // namespace

int plan(Client& client, bool json) {
  const auto answer = client.get("/v1/plan");
  if (!answer) return complain(answer.error());
  return show_plan(answer->root(), json);
}

int plan_of_snapshot(const std::string& file, bool json) {
  const auto text = read_file(file, planning::kSnapshotBytesMax);
  if (!text) return complain(text.error());
  const auto answer = planning::answer(*text);
  if (!answer)
    return complain_of(file, answer.error().size(),
                       [&](std::size_t i) { return answer.error()[i].message; });
  const auto parsed =
      json::Document::parse(*answer, {.bytes_max = std::size_t{1} << 30, .values_max = 50'000'000});
  if (!parsed) return complain(parsed.error());
  return show_plan(parsed->root(), json);
}

int save_snapshot(Client& client, const std::string& file) {
  const auto text = client.text("/v1/plan/snapshot");
  if (!text) return complain(text.error());
  // It says what users wait for, which is not for everybody.
  if (const auto written = write_file(file, *text, 0600); !written)
    return complain(written.error());
  return exit_code::kOk;
}

int dump(Client& client) {
  const auto text = client.text("/v1/debug/dump");
  if (!text) return complain(text.error());
  std::fputs(text->c_str(), stdout);
  return exit_code::kOk;
}

int config_diff(Client& client, const std::string& file, bool json) {
  const auto text = read_file(file, kConfigMax);
  if (!text) return complain(text.error());
  std::string body;
  json::Writer w(body);
  w.begin_object().member("text", *text);
  w.member("folder", std::filesystem::absolute(file).parent_path().lexically_normal().string());
  w.end_object();
  const auto answer = client.post("/v1/config/diff", body);
  if (!answer) return complain(answer.error());
  std::vector<std::string> problems;
  for (const json::Value one : answer->root().at("problems").children())
    problems.emplace_back(one.text());
  if (json)
    print_json(answer->root());
  else if (!problems.empty())
    complain_of(file, problems.size(), [&](std::size_t i) { return problems[i]; });
  else
    print_config_diff(answer->root());
  return problems.empty() ? exit_code::kOk : exit_code::kFailed;
}

}  // namespace hostler::cli
