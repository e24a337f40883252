#include "core/driver_host/wire/messages.h"

#include <cstring>
#include <memory_resource>

#include "core/driver_host/wire/decoder.h"
#include "core/driver_host/wire/encoder.h"

namespace hostler::driver_host {
namespace {

constexpr std::size_t kTextsMax = 64;

// One description of each body, for both directions.
template <class V>
void visit_body(Hello& h, V& v) {
  v(h.wire_version), v(h.host_version);
  v(h.name), v(h.version), v(h.vendor), v(h.license), v(h.runtime), v(h.config_schema_json);
  v(h.threading), v(h.max_concurrency), v(h.min_host_minor), v(h.abi_minor);
  v(h.extensions);
  v(h.in_force.sandbox), v(h.in_force.memory_limit), v(h.in_force.cpu_limit);
}
template <class V>
void visit_body(End& e, V& v) {
  v(e.status), v(e.scope), v(e.flags);
  v(e.retry_after_ms), v(e.quota_limit), v(e.quota_used);
  v(e.texts), v(e.broken_rule);
}
template <class V>
void visit_body(LogLine& l, V& v) {
  v(l.level), v(l.text);
}
template <class V>
void visit_body(Crash& c, V& v) {
  v(c.signal), v(c.exit_status);
}

struct Writer {
  Encoder& to;
  template <class T>
  requires std::is_integral_v<T>
  void operator()(const T& value) { to.number(value); }
  void operator()(const std::string& text) { to.text(text); }
  void operator()(const std::vector<std::string>& texts) {
    to.number(static_cast<std::uint32_t>(texts.size()));
    for (const auto& text : texts) to.text(text);
  }
};

struct Reader {
  Decoder& from;
  template <class T>
  requires std::is_integral_v<T>
  void operator()(T& value) { value = from.number<T>(); }
  void operator()(std::string& text) { text = from.own_text(); }
  void operator()(std::vector<std::string>& texts) {
    const auto n = from.number<std::uint32_t>();
    for (std::uint32_t i = 0; i < n && i < kTextsMax && from.ok(); ++i)
      texts.push_back(from.own_text());
  }
};

template <class T>
std::string write(T value) {
  std::string out;
  Encoder encoder(out);
  Writer writer{encoder};
  visit_body(value, writer);
  return out;
}

template <class T>
std::optional<T> read(std::string_view body) {
  Decoder decoder(body, *std::pmr::null_memory_resource());
  T value;
  Reader reader{decoder};
  visit_body(value, reader);
  if (!decoder.ok()) return std::nullopt;
  return value;
}

}  // namespace

std::string to_body(const Hello& hello) { return write(hello); }
std::string to_body(const End& end) { return write(end); }
std::string to_body(const LogLine& line) { return write(line); }

std::optional<Hello> read_hello(std::string_view body) { return read<Hello>(body); }
std::optional<End> read_end(std::string_view body) { return read<End>(body); }
std::optional<LogLine> read_log_line(std::string_view body) { return read<LogLine>(body); }
std::optional<Crash> read_crash(std::string_view body) { return read<Crash>(body); }

}  // namespace hostler::driver_host
