#include "core/config/credentials.h"

#include <cstdlib>

#include "core/base/files.h"
#include "core/base/trusted_file.h"
#include "core/json/document.h"
#include "core/json/writer.h"

namespace hostler::config {

Result<std::string> to_credentials(std::string_view text, const std::string& source) {
  const auto document = json::Document::parse(text);
  // Do not show the parser's message, because it may quote a part of the secret.
  if (!document || !document->root().is(json::Kind::kObject))
    return fail(Errc::kInvalidArgument,
                source + " does not contain a JSON object" +
                    (document ? "" : "; the error is not shown, because the content is secret"));
  return json::to_text(document->root());
}

Result<std::string> read_credentials(const CredentialSource& source, bool trusted_only) {
  if (!source.file.empty()) {
    const auto text = trusted_only ? read_trusted_secret_file(source.file, kCredentialsMax)
                                   : read_secret_file(source.file, kCredentialsMax);
    if (!text) return tl::unexpected(text.error());
    return to_credentials(*text, source.file);
  }
  if (source.environment.empty()) return std::string();
  const std::string name = "the environment variable " + source.environment;
  const char* const text = ::secure_getenv(source.environment.c_str());
  if (text == nullptr) return fail(Errc::kNotFound, name + " is not set");
  if (std::string_view(text).size() > kCredentialsMax)
    return fail(Errc::kTooLarge,
                name + " has more than " + std::to_string(kCredentialsMax) + " bytes");
  return to_credentials(text, name);
}

}  // namespace hostler::config
