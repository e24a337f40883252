#include "tests/bench/lxd/quick_server.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace hostler::lxd::bench {
namespace {

/// As LXD 5.0.2 shows one that runs, without what the driver does not read.
std::string instance(int number) {
  const std::string key = "00000000-0000-4000-8000-" + std::to_string(100'000'000'000 + number);
  return R"({"name":"hostler-)" + key +
         R"(","type":"container","status":"Running","status_code":103,"location":"none",)" +
         R"("description":"","created_at":"2026-11-24T19:37:45.5Z",)" +
         R"("last_used_at":"2026-11-24T19:37:48Z","architecture":"x86_64","config":{)" +
         R"("cloud-init.user-data":")" + std::string(2000, '#') + R"(","limits.cpu":"2",)" +
         R"("user.hostler-key":")" + key + R"(","user.hostler-set":"s","user.hostler-owner":"o",)" +
         R"("user.hostler-pool":"default","user.hostler-type":"small",)" +
         R"("volatile.eth0.hwaddr":"00:16:3e:00:00:01"},"state":{"network":{"eth0":{)" +
         R"("hwaddr":"00:16:3e:00:00:01","addresses":[{"family":"inet","address":"10.88.0.5",)" +
         R"("scope":"global"}]}}}})";
}

std::string http(const std::string& status, const std::string& body) {
  return "HTTP/1.1 " + status +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

std::string sync(const std::string& metadata) {
  return http("200 OK", R"({"type":"sync","status_code":200,"metadata":)" + metadata + "}");
}

bool begins(const std::string& text, const char* begin) {
  return text.compare(0, std::strlen(begin), begin) == 0;
}

/// The head of the next request; `buffer` keeps what comes after the request. Empty: there is none.
std::string next_request(int connection, std::string& buffer) {
  const auto read_more = [&] {
    std::array<char, 16384> bytes{};
    const auto n = ::recv(connection, bytes.data(), bytes.size(), 0);
    if (n > 0) buffer.append(bytes.data(), static_cast<std::size_t>(n));
    return n > 0;
  };
  std::size_t end = 0;
  while ((end = buffer.find("\r\n\r\n")) == std::string::npos)
    if (!read_more()) return {};
  std::string head = buffer.substr(0, end + 4);
  const std::size_t length_at = head.find("Content-Length: ");
  const std::size_t length =
      length_at == std::string::npos ? 0 : std::strtoul(head.c_str() + length_at + 16, nullptr, 10);
  while (buffer.size() < head.size() + length)
    if (!read_more()) return {};
  buffer.erase(0, head.size() + length);
  return head;
}

}  // namespace

QuickServer::QuickServer(int instances) {
  for (int i = 0; i < instances; ++i) list_ += (i == 0 ? "[" : ",") + instance(i);
  list_ = sync(list_ + "]");
  std::string name = "/tmp/hostler-quick-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder");
  folder_ = name;
  path_ = folder_ + "/socket";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_, 128) != 0)
    throw std::runtime_error("no socket");
  acceptor_ = std::thread([this] { accept_all(); });
}

QuickServer::~QuickServer() {
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  ::close(listener_);
  {
    const std::lock_guard lock(mutex_);
    for (const int one : open_) ::shutdown(one, SHUT_RDWR);
  }
  while (serving_ != 0) std::this_thread::yield();
  ::unlink(path_.c_str());
  ::rmdir(folder_.c_str());
}

void QuickServer::accept_all() {
  for (;;) {
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    {
      const std::lock_guard lock(mutex_);
      open_.push_back(connection);
    }
    ++serving_;
    std::thread([this, connection] { serve(connection); }).detach();
  }
}

void QuickServer::serve(int connection) {
  std::string buffer;
  for (;;) {
    const std::string head = next_request(connection, buffer);
    if (head.empty()) break;
    const std::string answer = answer_to(head);
    const std::string& all = answer.empty() ? list_ : answer;
    for (std::size_t at = 0; at < all.size();) {
      const auto n = ::send(connection, all.data() + at, all.size() - at, MSG_NOSIGNAL);
      if (n <= 0) break;
      at += static_cast<std::size_t>(n);
    }
  }
  {
    const std::lock_guard lock(mutex_);
    open_.remove(connection);
    ::close(connection);
  }
  --serving_;
}

/// Empty: it is the list.
std::string QuickServer::answer_to(const std::string& head) const {
  if (!begins(head, "GET "))
    return http("202 Accepted",
                R"({"type":"async","operation":"/1.0/operations/7","metadata":{}})");
  const std::string path = head.substr(4);
  if (begins(path, "/1.0/instances?")) return {};
  if (begins(path, "/1.0/instances/"))
    return http("404 Not Found", R"({"type":"error","error":"Not found","error_code":404})");
  if (begins(path, "/1.0/operations/")) return sync(R"({"status_code":200,"err":""})");
  if (begins(path, "/1.0/projects/")) return sync("{}");
  return sync(R"({"auth":"trusted","api_extensions":["instance_get_full","cloud_init"],)"
              R"("environment":{"certificate_fingerprint":"ab12","server_clustered":false}})");
}

}  // namespace hostler::lxd::bench
