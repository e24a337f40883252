#include "core/tap/secrets.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "core/base/masked.h"
#include "core/base/text.h"
#include "core/crypto/hash.h"
#include "core/json/document.h"
#include "core/json/writer.h"

namespace hostler::tap {
namespace {

constexpr std::size_t kTextMax = 300;
/// Shorter values are words such as "yes": they would be cut out of the middle of others.
constexpr std::size_t kSecretMin = 4;
/// A word of so many letters and digits is random, or may be.
constexpr std::size_t kWordMax = 31;
constexpr json::ParseOptions kParse{.bytes_max = std::size_t{1} << 20U};

constexpr std::array<std::string_view, 5> kSecretKeys{"key", "secret", "token", "password",
                                                      "credential"};

bool names_a_secret(std::string_view key) {
  std::string lower(key);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::ranges::any_of(
      kSecretKeys, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

/// `all`: also values whose keys say nothing of a secret.
void collect(const json::Value& value, bool all, std::vector<std::string>& out) {
  all = all || names_a_secret(value.key());
  if (value.is(json::Kind::kObject) || value.is(json::Kind::kArray)) {
    for (const json::Value one : value.children()) collect(one, all, out);
  } else if (all && value.text().size() >= kSecretMin) {
    out.emplace_back(value.text());
  }
}

void write_keys(json::Writer& w, const json::Value& value) {
  if (value.is(json::Kind::kObject)) {
    w.begin_object();
    for (const json::Value one : value.children()) write_keys(w.key(one.key()), one);
    w.end_object();
  } else if (value.is(json::Kind::kArray)) {
    w.begin_array();
    for (const json::Value one : value.children()) write_keys(w, one);
    w.end_array();
  } else {
    w.value(kHidden);
  }
}

bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("+/=_-").find(c) != std::string_view::npos;
}

std::string without_long_words(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto end = std::ranges::find_if_not(text, is_of_word);
    const auto word = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    out += word.size() > kWordMax ? std::string_view(kHidden) : word;
    text.remove_prefix(word.size());
    if (text.empty()) break;
    out += text.front();
    text.remove_prefix(1);
  }
  return out;
}

}  // namespace

std::string fingerprint(std::string_view text) {
  return "sha256:" + crypto::sha256_hex(text).substr(0, 16);
}

Secrets::Secrets(std::string_view credentials_json, std::string_view config_json) {
  const auto parsed = json::Document::parse(credentials_json, kParse);
  const auto config = json::Document::parse(config_json, kParse);
  if (config) collect(config->root(), false, secrets_);
  if (parsed)
    collect(parsed->root(), true, secrets_);
  else if (credentials_json.size() >= kSecretMin)
    secrets_.emplace_back(credentials_json);
  secrets_ = longest_first(std::move(secrets_));
}

std::string Secrets::clean(std::string_view text) const {
  return printable(masked(std::string(text), secrets_), kTextMax);
}

std::string Secrets::clean_sentence(std::string_view text) const {
  return without_long_words(clean(text));
}

std::string keys_only(std::string_view json_object) {
  const auto parsed = json::Document::parse(json_object, kParse);
  if (!parsed || !parsed->root().is(json::Kind::kObject)) return "{}";
  std::string out;
  json::Writer w(out);
  write_keys(w, parsed->root());
  constexpr std::size_t kKeysMax = 8192;
  return out.size() <= kKeysMax ? out : "{}";
}

}  // namespace hostler::tap
