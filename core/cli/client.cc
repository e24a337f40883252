#include "core/cli/client.h"

#include <curl/curl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <system_error>
#include <utility>

#include "core/base/files.h"

namespace hostler::cli {
namespace {

constexpr std::size_t kAnswerMax = std::size_t{256} << 20;
constexpr std::uint32_t kValuesMax = 10'000'000;
/// Of one line of a stream of events.
constexpr std::size_t kEventMax = std::size_t{16} << 20;

std::size_t append(char* data, std::size_t, std::size_t n, void* to) {
  auto& out = *static_cast<std::string*>(to);
  if (out.size() + n > kAnswerMax) return 0;
  out.append(data, n);
  return n;
}

long status_of(CURL* curl) {
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

/// The error in an answer of the daemon. Its code decides the exit status of the command.
Error daemon_error(long status, const std::string& body) {
  Error error{Errc::kInternal, "the daemon answered with status " + std::to_string(status)};
  const auto answer = json::Document::parse(body);
  if (!answer || !answer->root().has("message")) return error;
  error.message = answer->root().at("message").text();
  error.path = answer->root().at("path").text_or("");
  const auto code = answer->root().at("code").text();
  for (const Errc known : {Errc::kInvalidArgument, Errc::kForbidden, Errc::kNotFound,
                           Errc::kConflict, Errc::kTooLarge, Errc::kOverQuota, Errc::kUnavailable})
    if (code == to_string(known)) error.code = known;
  return error;
}

}  // namespace

struct Client::Handle {
  CURL* curl = curl_easy_init();
  curl_slist* headers = nullptr;
  std::array<char, CURL_ERROR_SIZE> why{};
  bool is_distrusted = false;  ///< The last call failed because of the daemon's certificate.
  ~Handle() {
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
  }
};

Client::Client(Endpoint endpoint)
    : endpoint_(std::move(endpoint)), handle_(std::make_unique<Handle>()) {}
Client::~Client() = default;

void Client::begin(const std::string& path) {
  CURL* curl = handle_->curl;
  curl_easy_reset(curl);
  curl_slist_free_all(std::exchange(handle_->headers, nullptr));
  if (!endpoint_.token.empty())
    handle_->headers =
        curl_slist_append(handle_->headers, ("Authorization: Bearer " + endpoint_.token).c_str());
  handle_->headers = curl_slist_append(handle_->headers, "Expect:");
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, handle_->headers);
  curl_easy_setopt(curl, CURLOPT_URL, (endpoint_.base + path).c_str());
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);  // "..", as an id, is a name like others.
  if (!endpoint_.socket_path.empty())
    curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, endpoint_.socket_path.c_str());
  set_trusted_certificates();
  handle_->why[0] = '\0';
  handle_->is_distrusted = false;
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, handle_->why.data());
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 10L);
  curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
}

/// Uses the CA file that the user named, else that of the system. A minimal system has none: then
/// no certificate is trusted, but curl must not report a bad CA file.
void Client::set_trusted_certificates() {
  CURL* curl = handle_->curl;
  char* of_system = nullptr;
  if (!endpoint_.ca_file.empty()) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, endpoint_.ca_file.c_str());
  } else if (curl_easy_getinfo(curl, CURLINFO_CAINFO, &of_system) == CURLE_OK &&
             of_system != nullptr && ::access(of_system, R_OK) != 0) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, nullptr);
  }
}

Error Client::connection_error(int curl_code) const {
  std::string why = handle_->why.data();
  if (why.empty()) why = curl_easy_strerror(static_cast<CURLcode>(curl_code));
  if (curl_code == CURLE_SSL_CACERT_BADFILE)
    return {Errc::kInvalidArgument, "CA file " + endpoint_.ca_file + ": " + why};
  handle_->is_distrusted = curl_code == CURLE_PEER_FAILED_VERIFICATION;
  if (handle_->is_distrusted)
    return {Errc::kUnavailable, "the certificate of " + endpoint_.url + " is not trusted (" + why +
                                    "); name its CA file with --ca-file or HOSTLER_CA_FILE"};
  if (!endpoint_.socket_path.empty()) {
    // For a unix socket, curl's text would name a port. Use the system's text instead.
    long number = 0;
    curl_easy_getinfo(handle_->curl, CURLINFO_OS_ERRNO, &number);
    if (number != 0) why = std::generic_category().message(static_cast<int>(number));
    if (number == EACCES || number == EPERM)
      return {Errc::kForbidden, endpoint_.url + " may not be opened by this user (" + why +
                                    "): the user may have to join the socket's group"};
  }
  const auto ends_with_hint = [&](const std::string& hint) {
    return Error{Errc::kUnavailable,
                 "no daemon answers at " + endpoint_.url + " (" + why + "); " + hint};
  };
  // A TLS port closes a plain connection without an answer; a plain port fails the TLS handshake.
  if (curl_code == CURLE_GOT_NOTHING && endpoint_.base.starts_with("http://") &&
      endpoint_.socket_path.empty())
    return ends_with_hint("if the daemon uses TLS, its URL begins with https://");
  if (curl_code == CURLE_SSL_CONNECT_ERROR)
    return ends_with_hint("if the daemon uses no TLS, its URL begins with http://");
  return ends_with_hint("is hostlerd running? Name it with --url or HOSTLER_URL");
}

bool Client::may_retry(const Error& error) const {
  return error.code == Errc::kUnavailable && !handle_->is_distrusted;
}

Result<std::string> Client::perform() {
  std::string body;
  CURL* curl = handle_->curl;
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
  const CURLcode code = curl_easy_perform(curl);
  if (code != CURLE_OK) return tl::unexpected(connection_error(code));
  const long status = status_of(curl);
  if (status < 200 || status > 299) return tl::unexpected(daemon_error(status, body));
  return body;
}

Result<std::string> Client::text(const std::string& path) {
  begin(path);
  return perform();
}

Result<json::Document> Client::get(const std::string& path) {
  const auto body = HOSTLER_TRY(text(path));
  return json::Document::parse(body, {.bytes_max = kAnswerMax, .values_max = kValuesMax});
}

Result<json::Document> Client::send(const char* method, const std::string& path,
                                    const std::string& body) {
  begin(path);
  if (method != nullptr) curl_easy_setopt(handle_->curl, CURLOPT_CUSTOMREQUEST, method);
  curl_easy_setopt(handle_->curl, CURLOPT_POSTFIELDS, body.data());
  curl_easy_setopt(handle_->curl, CURLOPT_POSTFIELDSIZE_LARGE,
                   static_cast<curl_off_t>(body.size()));
  const auto answer = HOSTLER_TRY(perform());
  return json::Document::parse(answer, {.bytes_max = kAnswerMax, .values_max = kValuesMax});
}

Result<json::Document> Client::post(const std::string& path, const std::string& body) {
  return send(nullptr, path, body);
}

Result<json::Document> Client::put(const std::string& path, const std::string& body) {
  return send("PUT", path, body);
}

Result<json::Document> Client::remove(const std::string& path) {
  begin(path);
  curl_easy_setopt(handle_->curl, CURLOPT_CUSTOMREQUEST, "DELETE");
  const auto answer = HOSTLER_TRY(perform());
  return json::Document::parse(answer);
}

Result<bool> Client::has(const std::string& path) {
  const auto answer = text(path);
  if (answer) return true;
  if (answer.error().code == Errc::kNotFound) return false;
  return tl::unexpected(answer.error());
}

Result<void> Client::put_file(const std::string& path, const std::string& file) {
  const std::unique_ptr<FILE, int (*)(FILE*)> from(std::fopen(file.c_str(), "rbe"), std::fclose);
  if (!from) return tl::unexpected(errno_error("open " + file, Errc::kInvalidArgument));
  std::fseek(from.get(), 0, SEEK_END);
  const long size = std::ftell(from.get());
  std::rewind(from.get());
  begin(path);
  curl_easy_setopt(handle_->curl, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(handle_->curl, CURLOPT_READDATA, from.get());
  curl_easy_setopt(handle_->curl, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(size));
  HOSTLER_TRY(perform());
  return {};
}

Result<void> Client::get_file(const std::string& path, int fd, std::uint64_t max) {
  std::uint64_t left = max;
  return receive(path, [&](std::string_view bytes) -> Result<void> {
    if (bytes.size() > left)
      return fail(Errc::kMisbehaving, "the daemon sends more bytes than the file has");
    left -= bytes.size();
    return write_all(fd, bytes, "the file");
  });
}

Result<void> Client::receive(const std::string& path,
                             const std::function<Result<void>(std::string_view)>& take) {
  struct State {
    CURL* curl;
    const std::function<Result<void>(std::string_view)>& take;
    std::string refusal = {};
    Result<void> taken = {};
  };
  begin(path);
  State state{.curl = handle_->curl, .take = take};
  const auto pass_on = [](char* data, std::size_t, std::size_t n, void* to) -> std::size_t {
    auto& s = *static_cast<State*>(to);
    if (status_of(s.curl) >= 400) return append(data, 1, n, &s.refusal);
    s.taken = s.take({data, n});
    return s.taken ? n : 0;
  };
  curl_easy_setopt(state.curl, CURLOPT_WRITEFUNCTION,
                   static_cast<std::size_t (*)(char*, std::size_t, std::size_t, void*)>(pass_on));
  curl_easy_setopt(state.curl, CURLOPT_WRITEDATA, &state);
  const CURLcode code = curl_easy_perform(state.curl);
  if (!state.taken)
    return tl::unexpected(std::move(state.taken).error().with_context("fetch " + path));
  const long status = status_of(state.curl);
  if (status >= 400) return tl::unexpected(daemon_error(status, state.refusal));
  if (code != CURLE_OK) return tl::unexpected(connection_error(code));
  if (status != 200)
    return fail(Errc::kMisbehaving, "fetch " + path + ": status " + std::to_string(status));
  return {};
}

Result<void> Client::follow(const std::string& path,
                            const std::function<bool(std::string_view)>& on_event,
                            const std::function<bool()>& on_idle) {
  struct State {
    const std::function<bool(std::string_view)>& on_event;
    const std::function<bool()>& on_idle;
    std::string buffer;
    bool stopped = false, is_error = false;
    std::optional<Error> error = {};  ///< Sent as an event of the kind "error".
  } state{.on_event = on_event, .on_idle = on_idle, .buffer = {}};
  begin(path);
  CURL* curl = handle_->curl;
  const auto take = [](char* data, std::size_t, std::size_t n, void* to) -> std::size_t {
    auto& s = *static_cast<State*>(to);
    if (s.buffer.size() + n > kEventMax) {
      s.error = Error{Errc::kMisbehaving, "the daemon sends a line without an end"};
      return 0;
    }
    s.buffer.append(data, n);
    for (std::size_t end; (end = s.buffer.find('\n')) != std::string::npos;) {
      const std::string line = s.buffer.substr(0, end);
      s.buffer.erase(0, end + 1);
      if (line == "event: error") s.is_error = true;
      if (!line.starts_with("data: ")) continue;
      if (s.is_error) s.error = daemon_error(0, line.substr(6));
      if (s.is_error || !s.on_event(std::string_view(line).substr(6))) {
        s.stopped = true;
        return 0;
      }
    }
    return n;
  };
  const auto idle = [](void* to, curl_off_t, curl_off_t, curl_off_t, curl_off_t) -> int {
    auto& s = *static_cast<State*>(to);
    if (!s.on_idle || s.on_idle()) return 0;
    s.stopped = true;
    return 1;
  };
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION,
                   static_cast<std::size_t (*)(char*, std::size_t, std::size_t, void*)>(take));
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &state);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(
      curl, CURLOPT_XFERINFOFUNCTION,
      static_cast<int (*)(void*, curl_off_t, curl_off_t, curl_off_t, curl_off_t)>(idle));
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &state);
  const CURLcode code = curl_easy_perform(curl);
  const long status = status_of(curl);
  if (status >= 400) return tl::unexpected(daemon_error(status, state.buffer));
  if (state.error) return tl::unexpected(std::move(*state.error));
  // With TLS, curl reports an error if the daemon was killed in the middle of a stream.
  if (code == CURLE_OK || state.stopped || status == 200) return {};
  return tl::unexpected(connection_error(code));
}

}  // namespace hostler::cli
