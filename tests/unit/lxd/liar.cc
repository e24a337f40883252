#include "tests/unit/lxd/liar.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <utility>

namespace hostler::lxd::test {
namespace {

void need(bool truth, const char* what) {
  if (!truth) throw std::runtime_error(what);
}

std::string pem_of(const std::function<int(BIO*)>& write) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  need(write(bio.get()) == 1, "PEM");
  char* data = nullptr;
  const long length = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(length)};
}

/// Of one request. \return whether it has come.
bool has_read_head(int connection, SSL* tls) {
  std::string head;
  std::array<char, 4096> buffer{};
  while (head.find("\r\n\r\n") == std::string::npos) {
    const auto n = tls != nullptr ? SSL_read(tls, buffer.data(), int(buffer.size()))
                                  : int(::recv(connection, buffer.data(), buffer.size(), 0));
    if (n <= 0) return false;
    head.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

Identity make_identity() {
  EVP_PKEY* const key = EVP_EC_gen("P-256");
  X509* const certificate = X509_new();
  need(key != nullptr && certificate != nullptr, "key");
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -7200);
  X509_gmtime_adj(X509_getm_notAfter(certificate), -3600);  // a pin does not care about time
  X509_set_pubkey(certificate, key);
  X509_NAME* const name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("somebody"), -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  need(X509_sign(certificate, key, EVP_sha256()) > 0, "sign");
  Identity out;
  out.certificate = pem_of([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
  out.key = pem_of([&](BIO* bio) {
    return PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
  std::array<unsigned char, 32> digest{};
  unsigned int length = 0;
  X509_digest(certificate, EVP_sha256(), digest.data(), &length);
  for (const unsigned char byte : digest) {
    std::array<char, 3> hex{};
    std::snprintf(hex.data(), hex.size(), "%02x", byte);
    out.sha256 += hex.data();
  }
  X509_free(certificate);
  EVP_PKEY_free(key);
  return out;
}

Liar::Liar(std::string bytes, const Identity* identity)
    : bytes_(std::move(bytes)), stop_(::eventfd(0, EFD_CLOEXEC)) {
  if (identity == nullptr) {
    listen_on_path();
  } else {
    tls_.reset(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
    BIO* bio = BIO_new_mem_buf(identity->certificate.data(), -1);
    X509* const certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
    BIO_free(bio);
    bio = BIO_new_mem_buf(identity->key.data(), -1);
    EVP_PKEY* const key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
    BIO_free(bio);
    need(SSL_CTX_use_certificate(tls_.get(), certificate) == 1, "certificate");
    need(SSL_CTX_use_PrivateKey(tls_.get(), key) == 1, "key");
    X509_free(certificate);
    EVP_PKEY_free(key);
    listen_on_port();
    // OpenSSL writes to clients that have gone. Drivers run where this signal is ignored, too.
    ::signal(SIGPIPE, SIG_IGN);
  }
  thread_ = std::thread([this] { serve(); });
}

Liar::~Liar() {
  (void)(::eventfd_write(stop_, 1) == 0);
  thread_.join();
  ::close(listener_);
  ::close(stop_);
  if (folder_.empty()) return;
  ::unlink(path_.c_str());
  ::rmdir(folder_.c_str());
}

void Liar::listen_on_path() {
  std::string name = "/tmp/hostler-liar-XXXXXX";
  need(::mkdtemp(name.data()) != nullptr, "folder");
  folder_ = name;
  path_ = folder_ + "/socket";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  need(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "bind");
  need(::listen(listener_, 8) == 0, "listen");
}

void Liar::listen_on_port() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  need(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "bind");
  need(::listen(listener_, 8) == 0, "listen");
  socklen_t length = sizeof address;
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
  url_ = "https://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

void Liar::serve() {
  for (;;) {
    std::array<pollfd, 2> wait{{{listener_, POLLIN, 0}, {stop_, POLLIN, 0}}};
    ::poll(wait.data(), wait.size(), -1);
    if (wait[1].revents != 0) return;
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    serve(connection);
    ::close(connection);
  }
}

void Liar::serve(int connection) {
  std::unique_ptr<SSL, decltype(&SSL_free)> tls(nullptr, SSL_free);
  if (tls_ != nullptr) {
    tls.reset(SSL_new(tls_.get()));
    SSL_set_fd(tls.get(), connection);
    if (SSL_accept(tls.get()) != 1) return;
  }
  if (!has_read_head(connection, tls.get())) return;
  ++requests_;
  for (std::size_t at = 0; at < bytes_.size();) {
    const auto n =
        tls ? SSL_write(tls.get(), bytes_.data() + at, int(bytes_.size() - at))
            : int(::send(connection, bytes_.data() + at, bytes_.size() - at, MSG_NOSIGNAL));
    if (n <= 0) return;
    at += static_cast<std::size_t>(n);
  }
  if (leave_) return leave_at_next(connection);
  if (!keep_open_) return;
  std::array<pollfd, 2> wait{{{connection, POLLIN, 0}, {stop_, POLLIN, 0}}};
  ::poll(wait.data(), wait.size(), -1);
}

/// The next request comes by the same connection or by another one.
void Liar::leave_at_next(int connection) {
  for (bool is_open = true;;) {
    std::array<pollfd, 3> wait{
        {{listener_, POLLIN, 0}, {stop_, POLLIN, 0}, {is_open ? connection : -1, POLLIN, 0}}};
    ::poll(wait.data(), wait.size(), -1);
    if (wait[1].revents != 0) return;
    const bool is_new = wait[0].revents != 0;
    const int from = is_new ? ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC) : connection;
    const bool has_come = has_read_head(from, nullptr);
    if (has_come) {
      ++requests_;
      ::close(std::exchange(listener_, -1));
    }
    if (is_new) ::close(from);
    if (has_come) return;
    if (!is_new) is_open = false;
  }
}

}  // namespace hostler::lxd::test
