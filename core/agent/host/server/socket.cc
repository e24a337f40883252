#include "core/agent/host/server/socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hostler::agent {
namespace {

constexpr int kHandoverMs = 1000;

sockaddr_un address() {
  sockaddr_un out{};
  out.sun_family = AF_UNIX;
  std::strncpy(out.sun_path, kSocketName, sizeof out.sun_path - 1);
  return out;
}

/// A message of one byte and two descriptors. Not copyable, because `header` points to the members.
struct PairMessage {
  PairMessage() {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = ancillary;
    header.msg_controllen = sizeof ancillary;
  }
  PairMessage(const PairMessage&) = delete;
  PairMessage& operator=(const PairMessage&) = delete;

  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char ancillary[CMSG_SPACE(2 * sizeof(int))] = {};
  msghdr header{};
};

bool same_user(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

bool receive_pair(int fd, UniqueFd& in, UniqueFd& out) {
  pollfd poll{fd, POLLIN, 0};
  if (::poll(&poll, 1, kHandoverMs) != 1) return false;
  PairMessage message;
  if (::recvmsg(fd, &message.header, MSG_CMSG_CLOEXEC) != 1) return false;
  const cmsghdr* head = CMSG_FIRSTHDR(&message.header);
  if (head == nullptr || head->cmsg_type != SCM_RIGHTS ||
      head->cmsg_len != CMSG_LEN(2 * sizeof(int)))
    return false;
  int fds[2];
  std::memcpy(fds, CMSG_DATA(head), sizeof fds);
  in.reset(fds[0]);
  out.reset(fds[1]);
  for (const int each : fds) (void)::fcntl(each, F_SETFL, ::fcntl(each, F_GETFL) | O_NONBLOCK);
  return true;
}

}  // namespace

Result<UniqueFd> listen_here() {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return tl::unexpected(os_error("socket"));
  (void)::unlink(kSocketName);
  const sockaddr_un where = address();
  const mode_t before = ::umask(0177);
  const int bound = ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where);
  ::umask(before);
  if (bound != 0) return tl::unexpected(os_error(std::string("bind ") + kSocketName));
  if (::listen(fd.get(), 16) != 0) return tl::unexpected(os_error("listen"));
  return fd;
}

std::unique_ptr<Connection> accept_handover(int listener) {
  UniqueFd fd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  UniqueFd in;
  UniqueFd out;
  if (!fd || !same_user(fd.get()) || !receive_pair(fd.get(), in, out)) return nullptr;
  if (::send(fd.get(), "t", 1, MSG_NOSIGNAL) != 1) return nullptr;
  return std::make_unique<Connection>(std::move(fd), std::move(in), std::move(out));
}

Result<UniqueFd> hand_over() {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return tl::unexpected(os_error("socket"));
  const sockaddr_un where = address();
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0)
    return tl::unexpected(os_error("connect", Errc::kUnavailable));
  PairMessage message;
  cmsghdr* head = CMSG_FIRSTHDR(&message.header);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(2 * sizeof(int));
  const int fds[2] = {STDIN_FILENO, STDOUT_FILENO};
  std::memcpy(CMSG_DATA(head), fds, sizeof fds);
  if (::sendmsg(fd.get(), &message.header, MSG_NOSIGNAL) != 1)
    return tl::unexpected(os_error("hand over stdin and stdout", Errc::kUnavailable));
  // Wait for an answer: if the server has just died, a child of it may still hold the listener.
  char byte = 0;
  ssize_t received = 0;
  while ((received = ::read(fd.get(), &byte, 1)) < 0 && errno == EINTR) {
  }
  if (received != 1) return fail(Errc::kUnavailable, "the server did not accept stdin and stdout");
  return fd;
}

}  // namespace hostler::agent
