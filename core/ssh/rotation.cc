#include "core/ssh/rotation.h"

#include <utility>

#include "core/base/text.h"
#include "core/crypto/hash.h"
#include "core/crypto/random.h"
#include "core/crypto/ssh_keys.h"
#include "core/ssh/scripts.h"

namespace hostler::ssh {
namespace asio = boost::asio;

namespace {

/// A digest that says nothing of the secret; "-": there is no secret.
std::string mark_of(const std::string& secret, const std::string& nonce) {
  return secret.empty() ? "-" : crypto::sha256_hex("hostler-marker-1 " + nonce + " " + secret);
}

/// "ssh-ed25519 AAAA..." as two arguments.
std::pair<std::string, std::string> arguments_of(const std::string& public_key) {
  const std::size_t space = public_key.find(' ');
  if (space == std::string::npos) return {"-", "-"};
  return {public_key.substr(0, space), public_key.substr(space + 1)};
}

}  // namespace

asio::awaitable<Result<NextKey>> prepare_rotation(Session& session, std::string prefix,
                                                  Marker marker) {
  const std::string nonce = crypto::random_hex(16);
  const std::string mark = mark_of(marker.secret, nonce);
  const auto delivered = arguments_of(marker.delivered_key);
  ExecRequest request;
  request.command = scripts::command(prefix, {nonce, mark, delivered.first, delivered.second});
  request.input = scripts::kPrepareRotation;
  const auto result = co_await session.exec(std::move(request));
  if (!result)
    co_return tl::unexpected(Error(result.error()).with_context("make the next host key"));

  NextKey out;
  out.why = printable(scripts::answer(result->output, "hostler-rotation-none", nonce));
  out.none = !out.why.empty();
  if (out.none) co_return out;
  out.why = printable(scripts::answer(result->output, "hostler-rotation-unmarked", nonce));
  out.unmarked = !out.why.empty();
  if (out.unmarked) co_return out;
  const std::string_view made = scripts::answer(result->output, "hostler-rotation", nonce);
  const std::size_t space = made.find(' ');
  if (space == 64 && from_hex(made.substr(0, space))) {
    const auto key = crypto::parse_public_key(made.substr(space + 1));
    if (key && crypto::require_usable(*key)) {
      out.secret = made.substr(0, space);
      out.public_key = key->line();
      co_return out;
    }
  }
  // The output may hold the secret, so the message quotes standard error only.
  co_return fail(Errc::kUnavailable, "make the next host key: the script on " + session.address() +
                                         " printed no key; '" + printable(result->errors) + "'");
}

asio::awaitable<Result<void>> activate_rotation(Session& session, std::string prefix,
                                                std::string public_key) {
  const auto key = crypto::parse_public_key(public_key);
  if (!key) co_return tl::unexpected(key.error());
  const auto usable = crypto::require_usable(*key);
  if (!usable) co_return tl::unexpected(usable.error());
  const std::string nonce = crypto::random_hex(16);
  const std::string line = key->line();
  ExecRequest request;
  request.command = scripts::command(
      prefix, {nonce, key->type, std::string_view(line).substr(line.find(' ') + 1)});
  request.input = scripts::kActivateRotation;
  const auto result = co_await session.exec(std::move(request));
  if (!result)
    co_return tl::unexpected(Error(result.error()).with_context("activate the next host key"));
  const std::string_view answer = scripts::answer(result->output, "hostler-activated", nonce);
  if (answer == "done") co_return Result<void>();
  co_return fail(Errc::kUnavailable, "activate the next host key: " +
                                         (answer.empty() ? result->describe() : printable(answer)));
}

}  // namespace hostler::ssh
