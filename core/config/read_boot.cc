#include <algorithm>

#include "core/base/text.h"
#include "core/config/readers.h"

namespace hostler::config {
namespace {

constexpr std::size_t kCloudConfigMax = std::size_t{64} << 10;
constexpr std::size_t kBootFilesMax = 100, kBootBytesMax = std::size_t{128} << 10;
constexpr std::string_view kHeader = "#cloud-config";

/// Why cloud-init would not take it, as far as that shows without a parser; empty: nothing shows.
std::string fault_of(std::string_view config) {
  std::string_view first = config.substr(0, config.find('\n'));
  while (first.ends_with('\r') || first.ends_with(' ')) first.remove_suffix(1);
  if (first != kHeader)
    return "its first line is \"" + printable(first, 60) + "\", allowed: " + std::string(kHeader);
  if (!is_utf8(config)) return "it must be UTF-8 text";
  if (std::ranges::any_of(config, [](char c) {
        return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t';
      }))
    return "it has a control character, which YAML does not allow";
  return {};
}

/// A text that begins as a cloud-config does, or has several lines; else the name of a file.
void read_cloud_config(const json::Field& field, const Context& context, Shared<std::string>& out) {
  std::string text, path;
  if (!field.text(text, {.bytes_max = kCloudConfigMax}) || text.empty()) return;
  const bool is_file = text.front() != '#' && text.find('\n') == std::string::npos;
  if (is_file && !read_named_file(field, context, kCloudConfigMax, path, text)) return;
  if (const std::string fault = fault_of(text); !fault.empty())
    field.problem((is_file ? path : std::string("the cloud-config")) + ": " + fault);
  out = std::move(text);
}

/// A path of files that hostler itself keeps on a host: its own folder, the folder of another
/// user's agent, and the keys of sshd.
bool is_hostlers(const std::string& path, const std::string& agent_folder) {
  for (const std::string& folder : {std::string("/var/lib/hostler-agent"), agent_folder})
    if (!folder.empty() && (path == folder || path.starts_with(folder + "/"))) return true;
  return (path + "/").find("/.hostler-agent/") != std::string::npos ||
         path.starts_with("/etc/ssh/ssh_host_");
}

void read_boot_path(const json::Field& field, const std::string& agent_folder, std::string& out) {
  if (!field.text(out, {.bytes_max = 1024, .bytes_min = 1, .one_line = true})) return;
  if (!out.starts_with('/') || !is_safe_path(out.substr(1)))
    field.refuse("an absolute path on the host, without empty parts, \".\" and \"..\"");
  else if (is_hostlers(out, agent_folder))
    field.problem("found \"" + printable(out) + "\", which hostler itself keeps on hosts");
}

/// A file cannot be a folder on the way to another one.
void check_beneath(const json::Field& field, const std::string& path,
                   const std::set<std::string>& paths) {
  const auto clash = std::ranges::find_if(paths, [&](const std::string& other) {
    return other.starts_with(path + "/") || path.starts_with(other + "/");
  });
  if (!path.empty() && clash != paths.end())
    field.problem("found \"" + printable(path) + "\" beside the file \"" + printable(*clash) +
                  "\": one of the two would have to be a folder");
}

/// "user" or "user:group", as chown takes them.
void read_owner(const json::Field& field, std::string& out) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  if (!field.text(out, {.bytes_max = 65, .bytes_min = 1, .one_line = true})) return;
  const auto parts = split(out, ':');
  const bool is_owner = parts.size() <= 2 && std::ranges::all_of(parts, [&](std::string_view one) {
                          return !one.empty() && one.front() != '-' &&
                                 one.find_first_not_of(kLetters) == std::string_view::npos;
                        });
  if (!is_owner) field.refuse("a user of the host, or \"user:group\"");
}

void read_boot_file(json::Object& o, const Context& context, const std::string& agent_folder,
                    std::set<std::string>& paths, model::BootFile& out) {
  const json::Field path = o.need("path"), content = o.may("content"), file = o.may("file"),
                    mode = o.may("mode");
  read_boot_path(path, agent_folder, out.path);
  claim_name(path, out.path, paths);
  check_beneath(path, out.path, paths);
  if (path.present() && content.present() == file.present())
    path.problem("it needs one of `content` and `file`, and not both");
  content.text(out.content, {.bytes_max = kBootBytesMax, .nul_allowed = true});
  std::string name;
  read_named_file(file, context, kBootBytesMax, name, out.content);
  std::string digits;
  if (mode.text(digits, {.bytes_max = 8})) {
    if (const auto read = parse_mode(digits); read && *read <= 07777)
      out.mode = *read;
    else
      mode.refuse("a mode in octal digits, e.g. \"0644\"");
  }
  read_owner(o.may("owner"), out.owner);
}

void read_boot_files(const json::Field& field, const Context& context,
                     const std::string& agent_folder, Shared<std::vector<model::BootFile>>& out) {
  std::vector<model::BootFile> files;
  std::set<std::string> paths;
  std::size_t bytes = 0;
  field.each(kBootFilesMax, [&](const json::Field& element) {
    element.object([&](json::Object& o) {
      read_boot_file(o, context, agent_folder, paths, files.emplace_back());
      bytes += files.back().content.size();
    });
  });
  if (bytes > kBootBytesMax)
    field.problem("the files have " + std::to_string(bytes) + " bytes together, allowed: at most " +
                  std::to_string(kBootBytesMax) + "; let the init_command fetch what is larger");
  if (!files.empty()) out = std::move(files);
}

}  // namespace

void read_boot(json::Object& o, const Context& context, const std::string& agent_folder,
               model::PoolPolicy& out) {
  read_cloud_config(o.may("cloud_config"), context, out.cloud_config);
  read_boot_files(o.may("boot_files"), context, agent_folder, out.boot_files);
}

}  // namespace hostler::config
