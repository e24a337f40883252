#include <algorithm>
#include <array>

#include "core/config/readers.h"
#include "core/json/pointer.h"

namespace hostler::config {
namespace {

using Source = model::MetricSource;

constexpr std::size_t kUrlMax = 2048, kPointerMax = 1024, kQueryMax = std::size_t{8} * 1024;
constexpr std::array kPicks{
    json::Word<model::Pick>{"sum", model::Pick::kSum},
    json::Word<model::Pick>{"max", model::Pick::kMax},
    json::Word<model::Pick>{"min", model::Pick::kMin},
    json::Word<model::Pick>{"avg", model::Pick::kAvg},
};
constexpr std::array kCounts{
    json::Word<model::Counted>{"queued", model::Counted::kQueued},
    json::Word<model::Counted>{"created", model::Counted::kCreated},
    json::Word<model::Counted>{"started", model::Counted::kStarted},
    json::Word<model::Counted>{"idle", model::Counted::kIdle},
    json::Word<model::Counted>{"busy", model::Counted::kBusy},
};

struct Url {
  bool is_secure = false;
  std::string host;
};

/// Messages do not quote a URL, because people write secrets into them.
std::optional<Url> read_url(const json::Field& field, std::string& out) {
  std::string url;
  if (!field.text(url, {.bytes_max = kUrlMax, .bytes_min = 1, .one_line = true, .secret = true}))
    return std::nullopt;
  const bool secure = url.starts_with("https://");
  const std::string_view rest =
      std::string_view(url).substr(secure                       ? 8
                                   : url.starts_with("http://") ? 7
                                                                : url.size());
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  Url read{.is_secure = secure, .host = {}};
  std::uint16_t port = 0;
  if (authority.find('@') != authority.npos)
    field.problem(
        "it contains a user or a password: write a token into a file of mode 0600 and name that "
        "file in token_file");
  else if (!parse_address(authority, read.host, port) || url.find(' ') != url.npos)
    field.problem("it must be such as http://127.0.0.1:9090 or https://metrics.example/x");
  else {
    out = std::move(url);
    return read;
  }
  return std::nullopt;
}

/// The token is read at each request, so only the file is checked here.
void read_token_file(json::Object& o, const Context& context, const std::optional<Url>& url,
                     Source& out) {
  const json::Field field = o.may("token_file");
  std::string token;
  read_secret(field, context, out.token_file, token);
  if (!field.present() || !url || url->is_secure || url->host == "localhost" ||
      is_loopback(url->host))
    return;
  field.problem(
      "a token is not sent over plain http, where the network can read it, except to this machine; "
      "use https://");
}

void read_pointer(json::Object& o, std::string& out) {
  const json::Field field = o.may("pointer");
  if (!field.text(out, {.bytes_max = kPointerMax, .one_line = true})) return;
  if (!json::check_pointer(out))
    field.refuse("a JSON pointer (RFC 6901), such as \"/queues/0/length\"");
}

void read_prometheus(json::Object& o, const Context& context, Source& out) {
  const json::Field url = o.need("url");
  const auto read = read_url(url, out.url);
  if (out.url.find_first_of("?#") != std::string::npos)
    url.problem("it must be the address of the server alone, without ? and #");
  read_token_file(o, context, read, out);
  o.need("query").text(out.query, {.bytes_max = kQueryMax, .bytes_min = 1});
  const json::Field pick = o.may("pick"), by = o.may("by"), age_of = o.may("age_of");
  pick.word(out.pick, kPicks);
  if (by.text(out.by, {.bytes_max = 255, .one_line = true}) && !is_identifier(out.by))
    by.refuse("the name of a label, such as \"pool\" or \"instance\"");
  if (by.present() && pick.present())
    pick.problem("by takes one sample for each pool or instance, so none are picked: remove one");
  if (age_of.text(out.age_of, {.bytes_max = kQueryMax, .bytes_min = 1}) &&
      !is_plain_selector(out.age_of))
    age_of.refuse("a plain selector, such as \"queue_length\" or \"up{job=\\\"web\\\"}\"");
}

void read_http(json::Object& o, const Context& context, Source& out) {
  read_token_file(o, context, read_url(o.need("url"), out.url), out);
  read_pointer(o, out.pointer);
}

void read_file_source(json::Object& o, const Context& context, Source& out) {
  read_path(o.need("path"), context, out.file);
  read_pointer(o, out.pointer);
}

void read_exec(json::Object& o, const Context& context, Source& out) {
  read_command(o.need("command"), &context, out.command);
  read_pointer(o, out.pointer);
}

void read_count(json::Object& o, const model::SitePolicy& site, Source& out) {
  o.need("count").word(out.own.what, kCounts);
  const json::Field pool = o.may("pool");
  if (pool.name(out.own.pool) &&
      std::ranges::none_of(site.pools, [&](const auto& one) { return one.name == out.own.pool; }))
    pool.problem("found \"" + out.own.pool + "\", which is not a configured pool");
}

}  // namespace

void read_metric_source(const json::Field& field, const Context& context,
                        const model::SitePolicy& site, Source& out) {
  if (field.present() && !field.value()->is(json::Kind::kObject)) {
    field.refuse(
        "an object with one of prometheus, http, file, exec, hostler, such as "
        "{\"file\": {\"path\": \"/run/load\"}}");
    return;
  }
  field.object([&](json::Object& o) {
    const std::string_view kind = o.exactly_one({"prometheus", "http", "file", "exec", "hostler"});
    const auto read = [&](std::string_view name, Source::Kind to, const auto& members) {
      if (kind != name) return;
      out.kind = to;
      o.may(name).object(members);
    };
    read("prometheus", Source::Kind::kPrometheus,
         [&](json::Object& one) { read_prometheus(one, context, out); });
    read("http", Source::Kind::kHttp, [&](json::Object& one) { read_http(one, context, out); });
    read("file", Source::Kind::kFile,
         [&](json::Object& one) { read_file_source(one, context, out); });
    read("exec", Source::Kind::kExec, [&](json::Object& one) { read_exec(one, context, out); });
    read("hostler", Source::Kind::kHostler, [&](json::Object& one) { read_count(one, site, out); });
  });
}

bool is_plain_selector(std::string_view query) {
  std::size_t at = 0;
  const auto is_name_byte = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == ':';
  };
  while (at < query.size() && is_name_byte(query[at])) ++at;
  if (at > 0 && query[0] >= '0' && query[0] <= '9') return false;
  if (at == query.size()) return at > 0;
  if (query[at] != '{') return false;
  char quote = 0;
  for (++at; at < query.size(); ++at) {
    const char c = query[at];
    if (quote == 0 && c == '}') return at + 1 == query.size();
    if (quote == 0 && (c == '"' || c == '\'' || c == '`'))
      quote = c;
    else if (quote != 0 && c == '\\' && quote != '`')
      ++at;
    else if (c == quote)
      quote = 0;
  }
  return false;
}

}  // namespace hostler::config
