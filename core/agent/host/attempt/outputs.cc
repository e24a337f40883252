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
#include "core/base/text.h"

namespace hostler::agent {
namespace {

constexpr std::size_t kDepthMax = 64;
constexpr std::size_t kShownMax = 900;  // of a path that is_safe_path() refuses, which has 1024

/// One `[...]` at the begin of `pattern`; its length, or 0 if it is not closed.
std::size_t set_length(std::string_view pattern) {
  std::size_t at = 1;
  if (at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^')) ++at;
  if (at < pattern.size() && pattern[at] == ']') ++at;
  while (at < pattern.size() && pattern[at] != ']') ++at;
  return at < pattern.size() ? at + 1 : 0;
}

bool in_set(std::string_view set, char c) {
  set = set.substr(1, set.size() - 2);
  const bool negated = !set.empty() && (set[0] == '!' || set[0] == '^');
  if (negated) set.remove_prefix(1);
  bool found = false;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const bool range = i + 2 < set.size() && set[i + 1] == '-';
    const auto low = static_cast<unsigned char>(set[i]);
    const auto high = static_cast<unsigned char>(range ? set[i + 2] : set[i]);
    found =
        found || (low <= static_cast<unsigned char>(c) && static_cast<unsigned char>(c) <= high);
    if (range) i += 2;
  }
  return found != negated;
}

/// Whether the first element of `pattern`, no star, matches `c`; its length.
std::optional<std::size_t> match_one(std::string_view pattern, char c) {
  if (pattern[0] == '?') return 1;
  if (pattern[0] == '[')
    if (const std::size_t length = set_length(pattern); length > 0)
      return in_set(pattern.substr(0, length), c) ? std::optional(length) : std::nullopt;
  if (pattern[0] == '\\' && pattern.size() > 1)
    return pattern[1] == c ? std::optional<std::size_t>(2) : std::nullopt;
  return pattern[0] == c ? std::optional<std::size_t>(1) : std::nullopt;
}

class Finder {
 public:
  Finder(const std::vector<std::string>& patterns, std::uint32_t uid, std::uint64_t bytes_max,
         std::size_t visits_max)
      : named_(patterns.begin(), patterns.end()),
        uid_(uid),
        bytes_left_(bytes_max),
        visits_left_(visits_max) {}

  /// True if anything under `fd` (which it closes) matched.
  bool walk(UniqueFd fd, const std::string& path, const std::vector<std::string>& parts,
            std::size_t depth);
  void add_problem(const std::string& path, std::string problem) {
    if (found_.size() < kOutputFilesMax) found_.try_emplace(path, OutputFile{path, 0, 0, problem});
  }
  [[nodiscard]] bool is_worn_out() const { return worn_out_; }
  std::vector<OutputFile> take();

 private:
  bool visit(int folder, const std::string& path, const std::string& name,
             std::vector<std::string> parts, std::size_t depth);
  void add(const std::string& path, const struct stat& info);
  std::string free_name(const std::string& path);

  const std::set<std::string> named_;  ///< The patterns: what is named so must be there.
  std::uint32_t uid_;
  std::uint64_t bytes_left_;
  std::size_t visits_left_;
  bool worn_out_ = false;
  std::map<std::string, OutputFile> found_;
  std::set<std::string> shown_;  ///< Given by free_name().
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
    worn_out_ = worn_out_ || visits_left_ == 0;
    if (worn_out_ || found_.size() >= kOutputFilesMax) break;
    --visits_left_;
    if (parts[0] == "**") {
      // No folder, or one and still any number.
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

/// `parts`: what is still to be matched below; none: this is wanted, with all in it.
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
  // A tree with links and sockets in it can be brought back all the same: its files.
  if (!S_ISREG(info.st_mode) && !named_.contains(path)) return;
  if (!is_safe_path(path))
    return add_problem(path, "its path is longer than 1024 bytes or is no plain text");
  if (S_ISLNK(info.st_mode)) return add_problem(path, "a symbolic link is not followed");
  if (!S_ISREG(info.st_mode)) return add_problem(path, "no regular file");
  // A hard link that the job made to what is not its own.
  if (uid_ != 0 && info.st_uid != uid_) return add_problem(path, "belongs to another user");
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size > bytes_left_) return add_problem(path, "beyond the bytes that a job may leave");
  bytes_left_ -= size;
  found_.emplace(path, OutputFile{path, size, static_cast<std::uint16_t>(info.st_mode & 0777), ""});
}

std::vector<OutputFile> Finder::take() {
  std::vector<OutputFile> out;
  for (auto& [path, file] : found_) {
    if (!is_safe_path(path)) file.path = free_name(path);
    out.push_back(std::move(file));
  }
  if (out.size() >= kOutputFilesMax)
    out.back() = {out.back().path, 0, 0,
                  "the job left more than " + std::to_string(kOutputFilesMax - 1) + " files"};
  return out;
}

/// What stands in the list for a path that the daemon would refuse, and the whole list with it.
std::string Finder::free_name(const std::string& path) {
  std::string name;
  for (const std::string_view part : split(path, '/')) {
    const bool stands = !part.empty() && part != "." && part != "..";
    name += (name.empty() ? "" : "/") + (stands ? printable(part) : "'" + std::string(part) + "'");
  }
  name = printable(name, kShownMax);
  std::string unique = name;
  for (int n = 2; found_.contains(unique) || shown_.contains(unique); ++n)
    unique = name + " (" + std::to_string(n) + ")";
  shown_.insert(unique);
  return unique;
}

}  // namespace

bool matches_name(std::string_view pattern, std::string_view name) {
  if (name.starts_with('.') && !pattern.starts_with('.') && !pattern.starts_with("\\."))
    return false;
  // The last star alone is ever taken back: linear in both, whatever the pattern.
  std::size_t at = 0;
  std::size_t in = 0;
  std::optional<std::pair<std::size_t, std::size_t>> star;
  while (in < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = {++at, in};
      continue;
    }
    const auto length = at < pattern.size() ? match_one(pattern.substr(at), name[in])
                                            : std::optional<std::size_t>();
    if (length) {
      at += *length;
      ++in;
    } else if (star) {
      at = star->first;
      in = ++star->second;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

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
      finder.add_problem(printable(pattern), "a pattern is relative and has no '..'");
      continue;
    }
    parts.erase(std::unique(parts.begin(), parts.end(),
                            [](auto& a, auto& b) { return a == "**" && b == "**"; }),
                parts.end());
    UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    const bool any = fd && finder.walk(std::move(fd), "", parts, 0);
    if (finder.is_worn_out()) {
      finder.add_problem("'" + printable(pattern) + "' and what follows",
                         "more than " + std::to_string(visits_max) + " names to look at");
      break;
    }
    if (!any && pattern.find_first_of("*?[") == std::string::npos)
      finder.add_problem(printable(pattern), "the job left no such file");
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
