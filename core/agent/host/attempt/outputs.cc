#include "core/agent/host/attempt/outputs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>

#include "core/agent/host/attempt/inputs.h"
#include "core/agent/host/attempt/name_pattern.h"
#include "core/base/text.h"

namespace hostler::agent {
namespace {

constexpr std::size_t kDepthMax = 64;
constexpr std::size_t kDisplayMax = 900;  // leaves room for a suffix: is_safe_path() allows 1024

/// One search in a job's folder. Counts names and bytes over all patterns.
class Finder {
 public:
  Finder(const std::vector<std::string>& patterns, std::uint32_t uid, std::uint64_t bytes_max,
         std::size_t visits_max)
      : patterns_(patterns.begin(), patterns.end()),
        uid_(uid),
        bytes_left_(bytes_max),
        visits_left_(visits_max) {}

  /// Searches the folder `fd` for `parts`, the elements of a pattern. True if anything matched.
  bool walk(UniqueFd fd, const std::string& path, const std::vector<std::string>& parts,
            std::size_t depth);
  void add_problem(const std::string& path, std::string problem) {
    if (found_.size() < kOutputFilesMax) found_.try_emplace(path, OutputFile{path, 0, 0, problem});
  }
  /// The limit on names is reached: the search has stopped.
  [[nodiscard]] bool is_exhausted() const { return exhausted_; }
  std::vector<OutputFile> take();

 private:
  bool visit(int folder, const std::string& path, const std::string& name,
             std::vector<std::string> parts, std::size_t depth);
  void add(const std::string& path, const struct stat& info);
  std::string display_name(const std::string& path);

  const std::set<std::string> patterns_;  ///< A path that is itself a pattern has no wildcard.
  std::uint32_t uid_;
  std::uint64_t bytes_left_;
  std::size_t visits_left_;
  bool exhausted_ = false;
  std::map<std::string, OutputFile> found_;
  std::set<std::string> display_names_;  ///< Those that display_name() has returned.
};

bool Finder::walk(UniqueFd fd, const std::string& path, const std::vector<std::string>& parts,
                  std::size_t depth) {
  if (depth > kDepthMax) return add_problem(path, "folders are nested too deep"), true;
  DIR* dir = ::fdopendir(fd.release());
  if (dir == nullptr) return false;
  bool any = false;
  while (const dirent* entry = ::readdir(dir)) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    exhausted_ = exhausted_ || visits_left_ == 0;
    if (exhausted_ || found_.size() >= kOutputFilesMax) break;
    --visits_left_;
    if (parts[0] == "**") {
      // `**` stands for no folder here, or for this folder and any number below it.
      if (parts.size() > 1 && matches_name(parts[1], name))
        any |= visit(::dirfd(dir), path, name, {parts.begin() + 2, parts.end()}, depth);
      if (parts.size() == 1)
        any |= visit(::dirfd(dir), path, name, {}, depth);
      else if (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN)
        any |= visit(::dirfd(dir), path, name, parts, depth);
    } else if (matches_name(parts[0], name)) {
      any |= visit(::dirfd(dir), path, name, {parts.begin() + 1, parts.end()}, depth);
    }
  }
  ::closedir(dir);
  return any;
}

/// `parts`: the rest of the pattern, below this name; empty: the name matches the whole pattern.
bool Finder::visit(int folder, const std::string& path, const std::string& name,
                   std::vector<std::string> parts, std::size_t depth) {
  const std::string inner = path.empty() ? name : path + "/" + name;
  struct stat info {};
  if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return false;
  if (!S_ISDIR(info.st_mode)) {
    if (!parts.empty()) return false;
    add(inner, info);
    return true;
  }
  UniqueFd next(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!next) return add_problem(inner, os_error("open").message), true;
  if (parts.empty()) parts = {"**"};
  return walk(std::move(next), inner, parts, depth + 1);
}

void Finder::add(const std::string& path, const struct stat& info) {
  if (found_.contains(path)) return;
  // Of a folder or a wildcard, only the files are collected: ignore links, sockets and the like.
  if (!S_ISREG(info.st_mode) && !patterns_.contains(path)) return;
  if (!is_safe_path(path))
    return add_problem(path, "its path is longer than 1024 bytes or is not plain text");
  if (S_ISLNK(info.st_mode))
    return add_problem(path, "it is a symbolic link; links are not followed");
  if (!S_ISREG(info.st_mode)) return add_problem(path, "it is not a regular file");
  // The job may have made a hard link to a file that it cannot read.
  if (uid_ != 0 && info.st_uid != uid_) return add_problem(path, "it belongs to another user");
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size > bytes_left_) return add_problem(path, "the output files are larger than the limit");
  bytes_left_ -= size;
  found_.emplace(path, OutputFile{path, size, static_cast<std::uint16_t>(info.st_mode & 0777), ""});
}

std::vector<OutputFile> Finder::take() {
  std::vector<OutputFile> out;
  for (auto& [path, file] : found_) {
    if (!is_safe_path(path)) file.path = display_name(path);
    out.push_back(std::move(file));
  }
  if (out.size() >= kOutputFilesMax)
    out.back() = {out.back().path, 0, 0,
                  "the job left more than " + std::to_string(kOutputFilesMax - 1) + " files"};
  return out;
}

/// A safe and unique name for a path that is not safe. The daemon refuses a list with unsafe paths.
std::string Finder::display_name(const std::string& path) {
  std::string name;
  for (const std::string_view part : split(path, '/')) {
    const bool is_plain = !part.empty() && part != "." && part != "..";
    name +=
        (name.empty() ? "" : "/") + (is_plain ? printable(part) : "'" + std::string(part) + "'");
  }
  name = printable(name, kDisplayMax);
  std::string unique = name;
  for (int n = 2; found_.contains(unique) || display_names_.contains(unique); ++n)
    unique = name + " (" + std::to_string(n) + ")";
  display_names_.insert(unique);
  return unique;
}

}  // namespace

std::vector<OutputFile> find_outputs(const std::string& folder,
                                     const std::vector<std::string>& patterns, std::uint32_t uid,
                                     std::uint64_t bytes_max, std::size_t visits_max) {
  Finder finder(patterns, uid, bytes_max, visits_max);
  for (const std::string& pattern : patterns) {
    std::vector<std::string> parts;
    for (const std::string_view part : split(pattern, '/'))
      if (!part.empty() && part != ".") parts.emplace_back(part);
    if (parts.empty() || pattern.starts_with('/') ||
        std::find(parts.begin(), parts.end(), "..") != parts.end()) {
      finder.add_problem(printable(pattern),
                         "a pattern must be relative and must not contain '..'");
      continue;
    }
    parts.erase(std::unique(parts.begin(), parts.end(),
                            [](auto& a, auto& b) { return a == "**" && b == "**"; }),
                parts.end());
    UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    const bool any = fd && finder.walk(std::move(fd), "", parts, 0);
    if (finder.is_exhausted()) {
      finder.add_problem("'" + printable(pattern) + "' and what follows",
                         "there are more than " + std::to_string(visits_max) + " names to search");
      break;
    }
    if (!any && pattern.find_first_of("*?[") == std::string::npos)
      finder.add_problem(printable(pattern), "the file does not exist");
  }
  return finder.take();
}

std::string files_path(model::AttemptId attempt) {
  return "out/" + std::to_string(attempt.work.value) + "." + std::to_string(attempt.number) +
         ".files";
}

Result<void> write_files(model::AttemptId attempt, const std::vector<OutputFile>& files) {
  std::string bytes;
  for (std::size_t at = 0; at < files.size(); at += kListingMax / 4) {
    const std::size_t end = std::min(files.size(), at + kListingMax / 4);
    Files piece{attempt, {}, end == files.size()};
    for (std::size_t i = at; i < end; ++i) piece.files.push_back(files[i]);
    HOSTLER_TRY(encode(piece, bytes));
  }
  const std::string path = files_path(attempt);
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd) return tl::unexpected(os_error("create " + path));
  return write_all(fd.get(), bytes, path);
}

std::vector<OutputFile> read_files(model::AttemptId attempt) {
  std::vector<OutputFile> out;
  Decoder<FromAgent> decoder;
  decoder.feed(read_small(files_path(attempt).c_str(), std::size_t{64} << 20));
  for (;;) {
    auto message = decoder.next();
    if (!message || !*message) return out;
    if (auto* files = std::get_if<Files>(&**message))
      out.insert(out.end(), files->files.begin(), files->files.end());
  }
}

UniqueFd open_output(const std::string& folder, const std::string& path) {
  UniqueFd at(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!is_inner_path(path)) return {};
  const auto parts = split(path, '/');
  for (std::size_t i = 0; at && i < parts.size(); ++i) {
    const int kind = i + 1 < parts.size() ? O_DIRECTORY : O_NONBLOCK;
    at.reset(::openat(at.get(), std::string(parts[i]).c_str(),
                      O_RDONLY | kind | O_NOFOLLOW | O_CLOEXEC));
  }
  return at;
}

}  // namespace hostler::agent
