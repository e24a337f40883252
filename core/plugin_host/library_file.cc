#include "core/plugin_host/library_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/dll/library_info.hpp>
#include <cerrno>
#include <exception>
#include <string_view>

#include "core/base/trusted_file.h"
#include "core/crypto/hash.h"
#include "core/elf/elf_file.h"
#include "hostler/driver.h"

namespace hostler::plugin_host {
namespace {

#if defined(__x86_64__)
constexpr std::uint16_t kMachine = EM_X86_64;
constexpr const char* kMachineName = "x86_64";
#elif defined(__aarch64__)
constexpr std::uint16_t kMachine = EM_AARCH64;
constexpr const char* kMachineName = "aarch64";
#else
#error "drivers are loaded on x86-64 and aarch64 only"
#endif

std::string about(const LibraryFile& file, std::string_view problem) {
  return "driver library " + file.path.string() + ": " + std::string(problem);
}

Result<UniqueFd> open_untrusted(const std::filesystem::path& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) {
    return tl::unexpected(errno_error("open driver file " + path.string(),
                                      errno == ENOENT ? Errc::kNotFound : Errc::kForbidden));
  }
  struct stat found {};
  if (fstat(fd.get(), &found) != 0) {
    return tl::unexpected(errno_error("stat driver file " + path.string()));
  }
  if (!S_ISREG(found.st_mode)) {
    return fail(Errc::kInvalidArgument, "driver file " + path.string() + ": not a regular file");
  }
  return fd;
}

}  // namespace

Result<LibraryFile> open_library(const std::filesystem::path& path,
                                 const std::filesystem::path& state_dir) {
  auto fd = open_trusted(path, state_dir);
  if (!fd) return tl::unexpected(std::move(fd).error().with_context("driver library"));
  return LibraryFile{path, *std::move(fd)};
}

bool is_own_file_name(const std::string& name) {
  return !name.empty() && name.size() < 128 && name[0] != '.' && name.find('/') == name.npos;
}

Result<LibraryFile> open_untrusted_library(const std::filesystem::path& path,
                                           const std::vector<std::filesystem::path>& own_files) {
  auto fd = HOSTLER_TRY(open_untrusted(path));
  LibraryFile file{path, std::move(fd)};
  if (own_files.size() > kOwnFilesMax)
    return fail(
        Errc::kInvalidArgument,
        about(file, "a driver has at most " + std::to_string(kOwnFilesMax) + " files of its own"));
  for (const auto& own : own_files) {
    const std::string name = own.filename();
    if (!is_own_file_name(name) || own.parent_path() != path.parent_path() || own == path)
      return fail(Errc::kInvalidArgument,
                  about(file, "its own file " + own.string() + " does not stand beside it"));
    auto own_fd = HOSTLER_TRY(open_untrusted(own));
    file.own_files.push_back({name, std::move(own_fd)});
  }
  return file;
}

std::string identity_of(const std::filesystem::path& library) {
  struct stat found {};
  if (::stat(library.c_str(), &found) != 0) return {};
  return std::to_string(found.st_ino) + "-" + std::to_string(found.st_size) + "-" +
         std::to_string(found.st_mtim.tv_sec) + "." + std::to_string(found.st_mtim.tv_nsec);
}

Result<std::string> sha256_of(const UniqueFd& file, const std::filesystem::path& path) {
  crypto::Sha256 digest;
  std::array<char, 65536> block{};
  off_t at = 0;
  while (true) {
    const ssize_t n = pread(file.get(), block.data(), block.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return tl::unexpected(errno_error("read driver file " + path.string()));
    if (n == 0) return digest.finish_hex();
    digest.update({block.data(), static_cast<std::size_t>(n)});
    at += n;
  }
}

Result<bool> has_search_path(const UniqueFd& file) {
  constexpr std::size_t kFileMax = std::size_t{512} << 20U;
  const std::string bytes = HOSTLER_TRY(read_file(path_of_open(file), kFileMax));
  if (!elf::is_elf(bytes)) return false;
  return HOSTLER_TRY(elf::read_elf(bytes)).has_search_path;
}

Result<void> check_elf(const LibraryFile& file) {
  Elf64_Ehdr header{};
  const ssize_t n = pread(file.fd.get(), &header, sizeof header, 0);
  if (n < static_cast<ssize_t>(SELFMAG) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return fail(Errc::kInvalidArgument, about(file, "not an ELF file"));
  }
  if (n < static_cast<ssize_t>(sizeof header) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_machine != kMachine || header.e_type != ET_DYN) {
    return fail(Errc::kInvalidArgument,
                about(file, std::string("not a shared library for ") + kMachineName));
  }
  // Boost.DLL throws on damaged files.
  try {
    boost::dll::library_info info(boost::dll::fs::path(file.loadable_name()));
    const auto symbols = info.symbols();
    if (std::find(symbols.begin(), symbols.end(), HOSTLER_DRIVER_ENTRY) != symbols.end()) return {};
  } catch (const std::exception& e) {
    return fail(Errc::kInvalidArgument, about(file, std::string("damaged ELF file: ") + e.what()));
  }
  return fail(Errc::kInvalidArgument, about(file, "exports no " HOSTLER_DRIVER_ENTRY
                                                  ": no driver, or one for another major "
                                                  "version of the driver ABI than 1"));
}

const char* machine_name() { return kMachineName; }

}  // namespace hostler::plugin_host
