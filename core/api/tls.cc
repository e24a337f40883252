#include "core/api/tls.h"

#include <boost/asio/ssl.hpp>
#include <chrono>
#include <utility>

#include "core/base/files.h"
#include "core/base/units.h"
#include "core/crypto/certificate.h"
#include "core/log/log.h"

namespace hostler::api {
namespace {

namespace ssl = boost::asio::ssl;
using namespace std::chrono_literals;

constexpr std::size_t kPemMax = std::size_t{1} << 20;
constexpr Duration kAnnounced = 14 * 24h;

Result<std::shared_ptr<ssl::context>> make_context(const std::string& chain,
                                                   const std::string& key) {
  auto out = std::make_shared<ssl::context>(ssl::context::tls_server);
  boost::system::error_code problem;
  out->use_certificate_chain(boost::asio::buffer(chain), problem);
  if (!problem) out->use_private_key(boost::asio::buffer(key), ssl::context::pem, problem);
  if (problem) return fail(Errc::kInvalidArgument, problem.message());
  return out;
}

}  // namespace

std::optional<std::string> expiry_problem(Wall end, Wall now) {
  const Duration left = end - now;
  if (left > kAnnounced) return std::nullopt;
  if (left <= Duration{})
    return "expired at " + format_wall(end) + ": clients refuse it; replace the files and reload";
  const auto hours = std::chrono::duration_cast<std::chrono::hours>(left).count();
  return "expires in " +
         (hours < 48 ? std::to_string(hours) + " hours" : std::to_string(hours / 24) + " days") +
         " (at " + format_wall(end) + "); replace the files and reload";
}

Result<void> Tls::load(Wall now) {
  const std::string name = "TLS: " + certificate_file_ + ", " + key_file_;
  const auto wrong = [&](const Error& error) {
    return fail(Errc::kUnavailable, name + ": " + error.message);
  };
  auto chain = read_file(certificate_file_, kPemMax);
  if (!chain) return wrong(chain.error());
  const auto key = read_file(key_file_, kPemMax);
  if (!key) return wrong(key.error());
  const auto validity = crypto::check_certificate(*chain, *key);
  if (!validity) return wrong(validity.error());
  auto made = make_context(*chain, *key);
  if (!made) return wrong(made.error());
  const MutexLock lock(mutex_);
  const bool is_other = context_ != nullptr && *chain != pem_;
  if (is_other && validity->end <= now)
    return fail(Errc::kUnavailable, name + ": expired at " + format_wall(validity->end));
  if (is_other && validity->begin > now)
    return fail(Errc::kUnavailable, name + ": not valid before " + format_wall(validity->begin));
  context_ = std::move(*made);
  pem_ = std::move(*chain);
  end_ = validity->end;
  log::info("api",
            "serves the certificate " + certificate_file_ + ", valid until " + format_wall(end_));
  if (validity->begin > now)
    log::warn("api", "the certificate " + certificate_file_ + " is not valid before " +
                         format_wall(validity->begin) + ": clients refuse it");
  if (const auto problem = expiry_problem(end_, now))
    log::warn("api", "the TLS certificate " + certificate_file_ + " " + *problem);
  return {};
}

std::shared_ptr<ssl::context> Tls::context() const {
  const MutexLock lock(mutex_);
  return context_;
}

Wall Tls::end() const {
  const MutexLock lock(mutex_);
  return end_;
}

}  // namespace hostler::api
