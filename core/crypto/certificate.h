#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/time.h"

/// X.509 certificates of TLS servers.
namespace hostler::crypto {

struct Validity {
  Wall begin, end;  ///< When all certificates of the chain are valid.
};

/// Checks a chain of certificates in PEM, the server's first, with the private key in PEM. An error
/// says which of the two is wrong: none in the text, damaged, encrypted, or not of the other. A
/// validity in the past is no error. No I/O.
Result<Validity> check_certificate(std::string_view chain_pem, std::string_view key_pem);

}  // namespace hostler::crypto
