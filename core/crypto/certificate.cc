#include "core/crypto/certificate.h"

#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include "core/crypto/pem.h"

namespace hostler::crypto {
namespace {

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

Result<Wall> wall_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1)
    return fail(Errc::kInvalidArgument, "the certificate has a validity that is no time");
  return Wall{std::int64_t{::timegm(&parts)} * 1'000'000};
}

Certificate next_certificate(const Bio& text) {
  return {PEM_read_bio_X509(text.get(), nullptr, no_passphrase, nullptr), &X509_free};
}

/// After the last certificate the text has no more PEM; anything else is damage.
Result<void> check_end() {
  const auto error = ERR_peek_last_error();
  ERR_clear_error();
  if (ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE) return {};
  return fail(Errc::kInvalidArgument, "a certificate of the chain is damaged");
}

}  // namespace

Result<Validity> check_certificate(std::string_view chain_pem, std::string_view key_pem) {
  const Bio text = reader_of(chain_pem);
  const Certificate own = next_certificate(text);
  if (!own) {
    ERR_clear_error();
    return fail(Errc::kInvalidArgument, "the certificate is none in PEM");
  }
  Validity out{HOSTLER_TRY(wall_of(X509_get0_notBefore(own.get()))),
               HOSTLER_TRY(wall_of(X509_get0_notAfter(own.get())))};
  while (const Certificate next = next_certificate(text)) {
    out.begin = std::max(out.begin, HOSTLER_TRY(wall_of(X509_get0_notBefore(next.get()))));
    out.end = std::min(out.end, HOSTLER_TRY(wall_of(X509_get0_notAfter(next.get()))));
  }
  HOSTLER_TRY(check_end());
  const Key key = HOSTLER_TRY(read_private_key(key_pem));
  const bool is_its_own = X509_check_private_key(own.get(), key.get()) == 1;
  ERR_clear_error();
  if (!is_its_own) return fail(Errc::kInvalidArgument, "the key is not that of the certificate");
  return out;
}

}  // namespace hostler::crypto
