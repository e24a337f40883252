#include "core/ssh/session.h"

#include "core/base/text.h"
#include "core/ssh/open.h"

namespace hostler::ssh {
namespace asio = boost::asio;

Session::Session(std::shared_ptr<Transport> transport, crypto::SshPublicKey host_key)
    : transport_(std::move(transport)), host_key_(std::move(host_key)) {}
Session::~Session() = default;

const std::string& Session::address() const { return transport_->address(); }
bool Session::is_lost() const { return transport_->is_lost(); }
void Session::close() { transport_->close(); }

asio::awaitable<Result<void>> Session::authenticate(Credentials credentials) {
  const auto transport = transport_;
  LIBSSH2_SESSION* const ssh = transport->ssh();
  const Deadline deadline = std::chrono::steady_clock::now() + credentials.limit;
  const std::string doing = "authentication as '" + printable(credentials.user, 64) + "'";
  const std::string& user = credentials.user;
  const auto user_size = static_cast<unsigned>(user.size());

  for (const std::string& key : credentials.private_keys) {
    int rc = 0;
    auto offer = [&] {
      rc = libssh2_userauth_publickey_frommemory(ssh, user.data(), user_size, nullptr, 0,
                                                 key.data(), key.size(), nullptr);
      return rc != LIBSSH2_ERROR_EAGAIN;
    };
    const Waited waited = co_await transport->until(offer, deadline);
    if (waited != Waited::kDone)
      co_return tl::unexpected(transport->error(doing, waited, credentials.limit));
    if (rc == 0) {
      transport->authenticated();
      co_return Result<void>();
    }
  }

  const char* methods = nullptr;
  auto ask = [&] {
    methods = libssh2_userauth_list(ssh, user.data(), user_size);
    return methods != nullptr || libssh2_session_last_errno(ssh) != LIBSSH2_ERROR_EAGAIN;
  };
  const Waited asked = co_await transport->until(ask, deadline);
  std::string text = doing + " with " + address() + ": refused, " +
                     std::to_string(credentials.private_keys.size()) + " key(s) tried";
  if (asked == Waited::kDone && methods != nullptr)
    text += ", the server accepts " + printable(methods, 100);
  text += "; is the public key in that user's authorized_keys there?";
  co_return fail(Errc::kUnavailable, std::move(text));
}

asio::awaitable<Result<Channel>> Session::open_channel(OpenRequest request) {
  const auto transport = transport_;
  const Deadline deadline = std::chrono::steady_clock::now() + request.limit;
  auto command = std::move(request.command);
  auto handle = co_await start_command(transport, std::move(command), deadline, request.limit);
  if (!handle) co_return tl::unexpected(std::move(handle).error());
  co_return Channel(transport, handle->release());
}

}  // namespace hostler::ssh
