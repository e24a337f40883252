#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/base/mutex.h"
#include "core/base/time.h"

namespace boost::asio::ssl {
class context;
}

namespace hostler::api {

/// The certificate with which the server answers, from two files. Any thread.
class Tls {
 public:
  Tls(std::string certificate_file, std::string key_file)
      : certificate_file_(std::move(certificate_file)), key_file_(std::move(key_file)) {}

  /// Reads the files. After an error, connections are served as before. An expired certificate is
  /// read if there is no other (the start), and is refused in place of another. Logs what is
  /// served.
  Result<void> load(Wall now);
  /// For the next connection; null before load().
  [[nodiscard]] std::shared_ptr<boost::asio::ssl::context> context() const;
  /// When the certificate, or one of its chain, expires.
  [[nodiscard]] Wall end() const;

 private:
  const std::string certificate_file_, key_file_;
  mutable Mutex mutex_;
  std::shared_ptr<boost::asio::ssl::context> context_ HOSTLER_GUARDED_BY(mutex_);
  std::string pem_ HOSTLER_GUARDED_BY(mutex_);  ///< The chain that is served.
  Wall end_ HOSTLER_GUARDED_BY(mutex_);
};

/// "expires in 3 days (at ...)" or "expired at ..." if that is nearer than 14 days; else nullopt.
std::optional<std::string> expiry_problem(Wall end, Wall now);

}  // namespace hostler::api
