#include <boost/asio.hpp>
#include <optional>
#include <string>

#include "core/base/text.h"
#include "core/ssh/session.h"
#include "tests/fuzz/target.h"
#include "tests/integration/ssh/known_leaks.h"

/// Connects to a server that says what the input says and hangs up: banner, key exchange and all
/// that libssh2 reads before a host has shown that it holds its key. Slower than the others.
namespace hostler::fuzz {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

asio::awaitable<void> serve(tcp::acceptor& acceptor, std::string_view said) {
  boost::system::error_code problem;
  auto token = asio::redirect_error(asio::use_awaitable, problem);
  tcp::socket peer = co_await acceptor.async_accept(token);
  const auto bytes = asio::buffer(said);
  co_await asio::async_write(peer, bytes, token);
  peer.shutdown(tcp::socket::shutdown_send, problem);
  std::string heard;
  auto into = asio::dynamic_buffer(heard);
  co_await asio::async_read(peer, into, token);  // until the client has gone
}

std::string failure(std::string_view said) {
  asio::io_context io;
  tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  ssh::ConnectRequest request;
  request.host = "127.0.0.1";
  request.port = acceptor.local_endpoint().port();
  std::optional<Error> error;
  asio::co_spawn(io, serve(acceptor, said), asio::detached);
  auto connect = [](ssh::ConnectRequest asked, auto& out) -> asio::awaitable<void> {
    const auto session = co_await ssh::Session::connect(std::move(asked));
    if (!session) out = session.error();
  };
  asio::co_spawn(io, connect(std::move(request), error), asio::detached);
  io.run();
  promise(error.has_value(), "a host that cannot sign shows no key");
  promise(error->code == Errc::kUnavailable, "a bad connection is tried again", error->message);
  return error->message;
}

}  // namespace
}  // namespace hostler::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hostler::fuzz;
  const hostler::test::LeaksOfLibssh2 known;
  const std::string said = failure(as_text(data, size));
  promise(said.find("127.0.0.1:") != std::string::npos, "an error names the address", said);
  promise(hostler::is_utf8(said) && said.find('\n') == std::string::npos && said.size() < 1500,
          "an error is one printable line", said);
  return 0;
}
