#include "tests/unit/store/cut_proxy.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace hostler::store {
namespace {

constexpr const char* kSocketName = ".s.PGSQL.5432";

sockaddr_un address_of(const std::filesystem::path& folder) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, (folder / kSocketName).c_str(), sizeof address.sun_path - 1);
  return address;
}

UniqueFd new_socket() { return UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

/// What there is; empty at the end.
std::string some_of(int fd) {
  std::string out(65536, '\0');
  const ssize_t n = ::read(fd, out.data(), out.size());
  out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return out;
}

}  // namespace

CutProxy::CutProxy(const std::filesystem::path& folder, const std::filesystem::path& server_folder)
    : server_(server_folder), listener_(new_socket()) {
  const auto address = address_of(folder);
  int ends[2];
  if (::bind(listener_.get(), generic(address), sizeof address) != 0 ||
      ::listen(listener_.get(), 16) != 0 || ::pipe2(ends, O_CLOEXEC) != 0)
    std::abort();
  stop_read_ = UniqueFd(ends[0]);
  stop_write_ = UniqueFd(ends[1]);
  acceptor_ = std::thread([this] { accept_all(); });
}

CutProxy::~CutProxy() {
  stop_write_.reset();
  acceptor_.join();
  for (auto& carrier : carriers_) carrier.join();
}

void CutProxy::accept_all() {
  for (;;) {
    pollfd from[2] = {{listener_.get(), POLLIN, 0}, {stop_read_.get(), 0, 0}};
    if (::poll(from, 2, -1) < 0 || from[1].revents != 0) return;
    UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (client && !is_shut_)
      carriers_.emplace_back([this, fd = client.release()] { carry(UniqueFd(fd)); });
  }
}

void CutProxy::carry(UniqueFd client) {
  const auto server = new_socket();
  const auto address = address_of(server_);
  if (::connect(server.get(), generic(address), sizeof address) != 0) return;
  std::string tail;
  for (;;) {
    pollfd from[3] = {
        {client.get(), POLLIN, 0}, {server.get(), POLLIN, 0}, {stop_read_.get(), 0, 0}};
    if (::poll(from, 3, -1) < 0 || from[2].revents != 0) return;
    if (from[0].revents != 0 && !to_server(client.get(), server.get(), tail)) return;
    if (from[1].revents == 0) continue;
    const auto said = some_of(server.get());
    if (said.empty()) return;
    if (!is_silent_ && !write_all(client.get(), said, "client")) return;
  }
}

bool CutProxy::to_server(int client, int server, std::string& tail) {
  const auto said = some_of(client);
  tail = tail.substr(tail.size() > 16 ? tail.size() - 16 : 0) + said;
  const auto where = tail.find("COMMIT") == std::string::npos ? Cut::kNever : cut_.load();
  if (said.empty()) return false;
  if (is_silent_) return true;
  if (where == Cut::kBeforeCommit) {
    is_shut_ = true;
    cut_ = Cut::kNever;
    return false;
  }
  if (!write_all(server, said, "server")) return false;
  if (where == Cut::kNever) return true;
  // Until the server says that it has.
  for (std::string answer; answer.find("COMMIT") == std::string::npos;) {
    const auto more = some_of(server);
    if (more.empty()) std::abort();
    answer += more;
  }
  is_shut_ = true;
  cut_ = Cut::kNever;
  return false;
}

}  // namespace hostler::store
