#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/api/routes.h"
#include "core/api/session.h"
#include "core/base/text.h"
#include "core/json/document.h"
#include "tests/fuzz/target.h"
#include "tests/unit/api/fake_service.h"

/// All that a client sends on one connection, to the real session and its handlers; behind them a
/// daemon that says yes to everything.
namespace hostler::fuzz {
namespace {

api::Limits limits() {
  api::Limits out;
  out.submit_bytes_max = 8192;
  out.submit_jobs_max = 20;
  out.blob_bytes_max = 8192;
  return out;
}

/// One connection, and the client's end of it.
class Connection {
 public:
  Connection() {
    std::array<int, 2> ends{};
    constexpr int kKind = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    promise(::socketpair(AF_UNIX, kKind, 0, ends.data()) == 0, "a socket can be made");
    client_.reset(ends[0]);
    service_.output_part.ended = true;
    auto strand = api::asio::make_strand(io_);
    api::PlainSocket socket(strand, api::asio::generic::stream_protocol(AF_UNIX, 0), ends[1]);
    auto place = connections_->take(api::Connections::Kind::kAdmin, "");
    api::SessionContext context{site_.get(), &access_, nullptr,  std::move(place),
                                {},          bodies_,  answers_, turns_};
    auto session = api::serve(std::move(socket), std::move(context));
    api::asio::co_spawn(strand, std::move(session),
                        [this](const std::exception_ptr&) { over_ = true; });
  }

  void say(std::string_view bytes) {
    while (!bytes.empty() && !is_over()) {
      const ssize_t n = ::send(client_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
      work();
      if (n < 0) return;  // it hears no more
    }
  }
  /// What it answered to all that was said.
  std::string finish() {
    ::shutdown(client_.get(), SHUT_WR);
    work();
    const bool follows = heard_.find("text/event-stream") != std::string::npos;
    promise(is_over() || follows, "a connection ends with its client", heard_);
    return std::move(heard_);
  }

 private:
  [[nodiscard]] bool is_over() const { return over_; }

  /// Until the session waits for its client, for news or for nothing more.
  void work() {
    for (int idle = 0; idle < 2;) {
      const bool worked = io_.poll() > 0;
      io_.restart();
      idle = hear() || worked ? 0 : idle + 1;
    }
  }
  bool hear() {
    std::array<char, 65536> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    const ssize_t n = ::recv(client_.get(), piece.data(), piece.size(), 0);
    if (n > 0) heard_.append(piece.data(), static_cast<std::size_t>(n));
    return n > 0;
  }

  api::FakeService service_;
  std::shared_ptr<api::Site> site_ = api::make_site(service_, limits());
  api::Access access_{{}};
  std::shared_ptr<api::Connections> connections_ =
      std::make_shared<api::Connections>(api::Connections::Bounds{});
  api::MemoryCount bodies_ = std::make_shared<std::atomic<std::uint64_t>>(0);
  api::MemoryCount answers_ = std::make_shared<std::atomic<std::uint64_t>>(0);
  std::shared_ptr<api::Turns> turns_ = std::make_shared<api::Turns>([] { return Duration{}; });
  UniqueFd client_;
  std::string heard_;
  bool over_ = false;
  api::asio::io_context io_;
};

std::string answers(std::string_view said, std::size_t split) {
  Connection connection;
  connection.say(said.substr(0, split));
  connection.say(said.substr(split));
  return connection.finish();
}

/// Without Beast's words for what is no HTTP: they depend on how much of it has come.
std::string_view without_complaint(std::string_view heard) {
  const std::size_t at = heard.find("this is no HTTP request");
  return at == std::string_view::npos ? heard : heard.substr(0, heard.rfind("HTTP/1.1 400", at));
}

/// The value of a header, by its name as Beast writes it.
std::string_view header(std::string_view head, std::string_view name) {
  const std::size_t at = head.find("\r\n" + std::string(name) + ": ");
  if (at == std::string_view::npos) return {};
  const std::size_t from = at + name.size() + 4;
  return head.substr(from, head.find("\r\n", from) - from);
}

void check_body(unsigned status, std::string_view head, std::string_view body) {
  if (header(head, "Content-Type") != "application/json") return;
  const auto json = json::Document::parse(body);
  promise(json.has_value(), "JSON is JSON", body);
  if (status < 400) return;
  promise(json->root().has("code") && json->root().has("message"), "an error says why", body);
}

/// Takes answers off the front until none is left whole: without the requests nobody can tell the
/// answer to a HEAD.
void check_answers(std::string_view all, bool has_heads) {
  constexpr std::array<unsigned, 10> kStatuses{100, 200, 400, 403, 404, 405, 409, 413, 417, 503};
  while (!all.empty()) {
    const std::size_t end = all.find("\r\n\r\n");
    promise(all.starts_with("HTTP/1.1 ") && end != std::string_view::npos, "it speaks HTTP", all);
    const std::string_view head = all.substr(0, end + 4);
    const auto status = static_cast<unsigned>(parse_u64(head.substr(9, 3)).value_or(0));
    promise(std::ranges::find(kStatuses, status) != kStatuses.end(), "a status is known", head);
    all.remove_prefix(head.size());
    if (has_heads || header(head, "Content-Type") == "text/event-stream") return;
    const std::size_t size = parse_u64(header(head, "Content-Length")).value_or(0);
    promise(size <= all.size(), "a body is as long as it says", head);
    check_body(status, head, all.substr(0, size));
    all.remove_prefix(size);
  }
}

}  // namespace
}  // namespace hostler::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hostler::fuzz;
  const std::string_view said = as_text(data, size);
  const std::string heard = answers(said, said.size());
  check_answers(heard, said.find("HEAD") != std::string_view::npos);
  const std::string again = answers(said, cut(said, 1));
  promise(without_complaint(again) == without_complaint(heard), "a split changes no answer", again);
  return 0;
}
