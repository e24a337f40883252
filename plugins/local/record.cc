#include "record.h"

#include <cstdio>
#include <stdexcept>
#include <utility>

namespace hostler::local {
namespace {

// One list of the fields, for writing and reading.
constexpr std::pair<const char*, std::string Record::*> kTexts[] = {
    {"id", &Record::id},
    {"key", &Record::idempotency_key},
    {"host_instance_id", &Record::host_instance_id},
    {"set_id", &Record::set_id},
    {"owner", &Record::owner},
    {"name", &Record::name},
    {"provider_type", &Record::provider_type},
    {"image_id", &Record::image_id},
    {"region", &Record::region},
    {"zone", &Record::zone},
    {"account", &Record::account},
    {"address", &Record::address},
    {"host_key", &Record::host_key},
    {"digest", &Record::digest}};
constexpr std::pair<const char*, std::int64_t Record::*> kNumbers[] = {
    {"port", &Record::port},
    {"market", &Record::market},
    {"created_unix_ns", &Record::created_unix_ns},
    {"price_micros_per_hour", &Record::price_micros_per_hour}};

}  // namespace

std::string Record::text() const {
  Fields fields;
  for (const auto& [field, member] : kTexts) fields.set(field, this->*member);
  for (const auto& [field, member] : kNumbers) fields.set(field, this->*member);
  return fields.text();
}

Record Record::parse(const std::string& text) {
  const Fields fields = Fields::parse(text);
  Record record;
  for (const auto& [field, member] : kTexts) record.*member = fields.get(field);
  for (const auto& [field, member] : kNumbers)
    record.*member = fields.number(field, record.*member);
  if (record.id.empty() || record.address.empty()) throw std::runtime_error("has no id or address");
  return record;
}

std::string hash_of(const std::string& text) {  // FNV-1a, 64 bits
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  char hex[17];
  std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(hash));
  return hex;
}

std::string id_of_key(const std::string& idempotency_key) {
  return "i-" + hash_of(idempotency_key);
}

bool is_id(const std::string& text) {
  return text.size() == 18 && text.compare(0, 2, "i-") == 0 &&
         text.find_first_not_of("0123456789abcdef", 2) == std::string::npos;
}

std::string tags_text(const Tags& tags) {
  Fields fields;
  for (const auto& [key, value] : tags) fields.set(key, value);
  return fields.text();
}

Tags parse_tags(const std::string& text) { return Fields::parse(text).all(); }

}  // namespace hostler::local
