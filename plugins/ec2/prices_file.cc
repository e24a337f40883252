#include <fcntl.h>
#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <optional>

#include "prices.h"

namespace hostler::ec2 {
namespace {

constexpr std::size_t kBytesMax = std::size_t{4} << 20;

/// At most one byte more than kBytesMax. Nothing if it cannot be read.
std::optional<std::string> bytes_of(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return std::nullopt;
  std::string out;
  std::array<char, 65536> buffer{};
  ssize_t n = 1;
  while (n > 0 && out.size() <= kBytesMax) {
    n = ::read(file, buffer.data(), buffer.size());
    if (n > 0) out.append(buffer.data(), static_cast<std::size_t>(n));
  }
  ::close(file);
  return n < 0 ? std::nullopt : std::optional(std::move(out));
}

}  // namespace

std::map<std::string, std::int64_t> read_prices(const std::string& path) {
  const auto refuse = [&](const std::string& problem) {
    throw driver::Error(HOSTLER_E_INVALID, "prices_file " + path + " " + problem);
  };
  const auto read = bytes_of(path);
  if (!read) refuse("cannot be read: name it in `readable` of the set");
  const std::string& all = *read;
  if (all.size() > kBytesMax) refuse("is longer than 4 MiB");
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(all.data(), all.size());
  if (document.HasParseError())
    refuse("is not JSON at byte " + std::to_string(document.GetErrorOffset()) + ": " +
           rapidjson::GetParseError_En(document.GetParseError()));
  if (!document.IsObject() || !document.HasMember("prices") || !document["prices"].IsObject())
    refuse("has no object `prices`, such as {\"prices\": {\"m6i.large\": 0.115}}");
  const rapidjson::Value& prices = document["prices"];
  std::map<std::string, std::int64_t> out;
  for (const auto& member : prices.GetObject()) {
    const std::string type(member.name.GetString(), member.name.GetStringLength());
    const double price = member.value.IsNumber() ? member.value.GetDouble() : -1;
    if (!(price >= 0 && price <= 1'000'000)) refuse("has no price per hour for " + type);
    out[type] = std::llround(price * 1e6);
  }
  return out;
}

}  // namespace hostler::ec2
