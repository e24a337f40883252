#include "http/pin.h"

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>
#include <cstdio>

#include "http/option.h"

namespace hostler::http {
namespace {

std::string sha256_of(const X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  std::string hex;
  if (certificate == nullptr || X509_digest(certificate, EVP_sha256(), digest.data(), &length) != 1)
    return hex;
  for (unsigned int i = 0; i < length; ++i) {
    std::array<char, 3> two{};
    std::snprintf(two.data(), two.size(), "%02x", digest[i]);
    hex += two.data();
  }
  return hex;
}

int verify(X509_STORE_CTX* store, void* pin) {
  const bool same = sha256_of(X509_STORE_CTX_get0_cert(store)) == *static_cast<std::string*>(pin);
  X509_STORE_CTX_set_error(store, same ? X509_V_OK : X509_V_ERR_CERT_REJECTED);
  return same ? 1 : 0;
}

CURLcode set_up(CURL*, void* context, void* pin) {
  SSL_CTX_set_cert_verify_callback(static_cast<SSL_CTX*>(context), verify, pin);
  return CURLE_OK;
}

}  // namespace

void pin_certificate(CURL* curl, const std::string& pin) {
  set_option(curl, CURLOPT_SSL_VERIFYHOST, 0L);
  // Else libcurl reads those of the system, and fails where there are none.
  set_option(curl, CURLOPT_CAINFO, nullptr);
  set_option(curl, CURLOPT_CAPATH, nullptr);
  set_option(curl, CURLOPT_SSL_CTX_FUNCTION, set_up);
  set_option(curl, CURLOPT_SSL_CTX_DATA, const_cast<std::string*>(&pin));
}

}  // namespace hostler::http
