#include "core/driver_host/wire/socket.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/driver_host/wire/limits.h"

namespace hostler::driver_host {
namespace {

/// Room for one descriptor beside a message.
union FileRoom {
  cmsghdr head;
  std::array<char, CMSG_SPACE(sizeof(int))> bytes;
};

Sent send(const UniqueFd& socket, const msghdr& message, bool block) {
  while (true) {
    if (::sendmsg(socket.get(), &message, MSG_NOSIGNAL | (block ? 0 : MSG_DONTWAIT)) >= 0)
      return Sent::kSent;
    if (errno == EINTR) continue;
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ? Sent::kFull
                                                                       : Sent::kClosed;
  }
}

iovec as_iovec(std::string_view message) {
  return {const_cast<char*>(message.data()), message.size()};
}

UniqueFd file_of(const msghdr& message) {
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr;
       head = CMSG_NXTHDR(const_cast<msghdr*>(&message), head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(head), sizeof fd);
    return UniqueFd(fd);
  }
  return {};
}

}  // namespace

Result<SocketPair> make_socket_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return tl::unexpected(errno_error("make a pair of sockets", Errc::kUnavailable));
  SocketPair pair{UniqueFd(ends[0]), UniqueFd(ends[1])};
  const int bytes = 1 << 20;  // The kernel gives what its administrator allows.
  for (const int end : ends) (void)::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  return pair;
}

Sent send_message(const UniqueFd& socket, std::string_view message, bool block) {
  iovec part = as_iovec(message);
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  return send(socket, header, block);
}

Sent send_with_file(const UniqueFd& socket, std::string_view message, const UniqueFd& file,
                    bool block) {
  iovec part = as_iovec(message);
  FileRoom room{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = room.bytes.data();
  header.msg_controllen = room.bytes.size();
  cmsghdr* const head = CMSG_FIRSTHDR(&header);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = file.get();
  std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
  return send(socket, header, block);
}

Received receive_message(const UniqueFd& socket, std::span<char> buffer, bool block,
                         bool with_files) {
  iovec part{buffer.data(), buffer.size()};
  FileRoom room{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (with_files) {
    header.msg_control = room.bytes.data();
    header.msg_controllen = room.bytes.size();
  }
  ssize_t n = 0;
  // ECONNRESET comes once, before the messages that are still there: the other side has closed its
  // end with messages of ours unread.
  do {
    n = ::recvmsg(socket.get(), &header, MSG_CMSG_CLOEXEC | (block ? 0 : MSG_DONTWAIT));
  } while (n < 0 && (errno == EINTR || errno == ECONNRESET));
  using What = Received::What;
  if (n < 0) return {errno == EAGAIN || errno == EWOULDBLOCK ? What::kNothing : What::kClosed};
  // Nobody sends an empty message. One that was cut is longer than any that this program sends.
  if (n == 0 || (header.msg_flags & MSG_TRUNC) != 0) return {What::kClosed};
  Received received{What::kMessage, static_cast<std::size_t>(n)};
  if (with_files) received.file = file_of(header);
  return received;
}

Result<UniqueFd> make_memory_file(std::string_view bytes) {
  UniqueFd file(::memfd_create("hostler-call", MFD_CLOEXEC));
  if (!file) return tl::unexpected(errno_error("make a file in memory", Errc::kUnavailable));
  HOSTLER_TRY(write_all(file.get(), bytes, "a file in memory"));
  return file;
}

}  // namespace hostler::driver_host
