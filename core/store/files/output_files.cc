#include "core/store/files/output_files.h"

#include <set>

#include "core/base/text.h"
#include "core/json/document.h"
#include "core/json/writer.h"

namespace hostler::store {

std::string to_json(const std::vector<OutputFile>& files) {
  std::string out;
  json::Writer w(out);
  w.begin_array();
  for (const auto& file : files)
    w.begin_object()
        .member("path", file.path)
        .member("size", static_cast<std::int64_t>(file.size))
        .member("mode", file.mode)
        .member("problem", file.problem)
        .end_object();
  w.end_array();
  return out;
}

Result<std::vector<OutputFile>> output_files_from_json(std::string_view text) {
  const auto document = HOSTLER_TRY(
      json::Document::parse(text, {.bytes_max = std::size_t{64} << 20U, .values_max = 2'000'000}));
  std::vector<OutputFile> files;
  for (const json::Value file : document.root().children())
    files.push_back({.path = std::string(file.at("path").text_or("")),
                     .size = static_cast<std::uint64_t>(file.at("size").int_or(0)),
                     .mode = static_cast<std::uint32_t>(file.at("mode").int_or(0)),
                     .problem = std::string(file.at("problem").text_or(""))});
  return files;
}

Result<void> check_output_files(const std::vector<OutputFile>& files, std::size_t files_max) {
  if (files.size() > files_max)
    return fail(Errc::kTooLarge, std::to_string(files.size()) + " output files; at most " +
                                     std::to_string(files_max) + " are kept");
  std::set<std::string_view> seen;
  for (const auto& file : files) {
    if (!is_safe_path(file.path))
      return fail(Errc::kInvalidArgument, "output file '" + printable(file.path, 80) +
                                              "': not a relative path inside its folder");
    if (!seen.insert(file.path).second)
      return fail(Errc::kInvalidArgument,
                  "output file '" + printable(file.path, 80) + "' is listed twice");
  }
  return {};
}

}  // namespace hostler::store
