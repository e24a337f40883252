#include "core/cli/commands.h"
#include "core/cli/unpack.h"

namespace hostler::cli {

int backup(Client& client, const std::string& folder) {
  const auto& endpoint = client.endpoint();
  // The daemon would refuse it; but then the token has been sent already.
  if (endpoint.socket_path.empty() && !endpoint.base.starts_with("https://"))
    return complain(
        {Errc::kForbidden,
         "a backup has secrets in it: use the unix socket or https, not " + endpoint.url});
  auto unpack = Unpack::into(folder);
  if (!unpack) return complain(unpack.error());
  auto done =
      client.receive("/v1/backup", [&](std::string_view bytes) { return unpack->take(bytes); });
  if (done) done = unpack->finish();
  if (!done) return complain(done.error());
  say(folder + ": " + std::to_string(unpack->files()) + " files, " +
      std::to_string(unpack->bytes()) + " bytes");
  return exit_code::kOk;
}

}  // namespace hostler::cli
