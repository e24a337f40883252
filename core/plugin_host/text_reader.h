#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/text.h"
#include "core/base/time.h"
#include "core/model/cloud.h"
#include "core/model/ids.h"
#include "core/plugin_host/abi_values.h"
#include "hostler/driver.h"

namespace hostler::plugin_host {

/// Copies texts out of a record (R19), up to the limits of bytes in a record and in an operation.
/// After the first broken rule it copies nothing more.
class TextReader {
 public:
  TextReader() = default;
  explicit TextReader(TextsLeft& operation) : operation_(operation) {}

  void text(std::string& out, const hostler_str& s, const char* field) {
    if (const auto checked = check(s, field); !checked.empty()) out.assign(checked);
  }
  /// An id or a name: they are stored, sent back and shown.
  void name(std::string& out, const hostler_str& s, const char* field) {
    if (s.len > model::kForeignNameMax && broken_.empty())
      broken_ = std::string("limit: ") + field + " has " + std::to_string(s.len) +
                " bytes, at most " + std::to_string(model::kForeignNameMax) + " are taken";
    text(out, s, field);
  }
  /// Those of an instance: what hostler has put there.
  void tags_of(model::ListedInstance& out, const hostler_kv* tags, std::size_t n) {
    if (!are_there(tags, n)) return;
    std::string epoch;
    for (std::size_t i = 0; i < n && broken_.empty(); ++i) {
      const std::string_view key = check(tags[i].key, "a tag's key");
      std::string* const value = key == model::tag::kPool    ? &out.pool
                                 : key == model::tag::kType  ? &out.type
                                 : key == model::tag::kIdle  ? &out.idle
                                 : key == model::tag::kEpoch ? &epoch
                                                             : nullptr;
      if (value != nullptr)
        name(*value, tags[i].value, "a tag's value");
      else
        (void)check(tags[i].value, "a tag's value");
      use(sizeof(hostler_kv));
    }
    out.epoch = parse_u64(epoch).value_or(0);
  }
  void tags(model::Tags& out, const hostler_kv* tags, std::size_t n) {
    if (!are_there(tags, n)) return;
    for (std::size_t i = 0; i < n && broken_.empty(); ++i) {
      std::string key;
      text(key, tags[i].key, "a tag's key");
      text(out[std::move(key)], tags[i].value, "a tag's value");
      use(sizeof(hostler_kv));
    }
  }
  /// The first address of those to choose from: drivers put the best one first.
  void address(std::string& out, model::AddressChoice choice, const hostler_address* addresses,
               std::size_t n) {
    if (n == 0) return;
    if (addresses == nullptr) {
      if (broken_.empty()) broken_ = "R19: a number of addresses but no addresses";
      return;
    }
    const std::uint32_t wanted = choice == model::AddressChoice::kPrivate  ? HOSTLER_ADDRESS_PRIVATE
                                 : choice == model::AddressChoice::kPublic ? HOSTLER_ADDRESS_PUBLIC
                                                                           : 0;
    for (std::size_t i = 0; i < n; ++i) {
      use(sizeof(hostler_address));
      if (!broken_.empty()) return;
      if (wanted == 0 || addresses[i].scope == wanted)
        return name(out, addresses[i].text, "an address");
    }
  }
  /// Any bytes.
  void bytes(std::string& out, const std::uint8_t* from, std::size_t n, const char* field) {
    if (n == 0 || !has_room({reinterpret_cast<const char*>(from), n}, field)) return;
    out.append(reinterpret_cast<const char*>(from), n);
  }
  std::string& broken() { return broken_; }

 private:
  /// The text, where it is; empty if it is, or if it or a text before it breaks a rule.
  std::string_view check(const hostler_str& s, const char* field) {
    if (s.len == 0 || !has_room(s, field)) return {};
    if (is_utf8({s.ptr, s.len})) return {s.ptr, s.len};
    broken_ = std::string("R19: ") + field + " is not UTF-8, or has a NUL in it";
    return {};
  }
  /// Takes the text's bytes off what is left.
  bool has_room(const hostler_str& s, const char* field) {
    if (!broken_.empty()) return false;
    if (s.ptr == nullptr) {
      broken_ = std::string("R19: ") + field + " has a length but no text";
    } else if (s.len > bytes_left_) {
      broken_ = "limit: more than " + std::to_string(kRecordBytesMax) + " bytes in a record";
    } else if (s.len > operation_.bytes) {
      broken_ = "limit: more than " + std::to_string(kOperationBytesMax) +
                " bytes in the records of one call";
    } else {
      bytes_left_ -= s.len;
      operation_.bytes -= s.len;
    }
    return broken_.empty();
  }
  bool are_there(const hostler_kv* tags, std::size_t n) {
    if (n > 0 && tags == nullptr && broken_.empty()) broken_ = "R19: a number of tags but no tags";
    return tags != nullptr;
  }
  void use(std::size_t bytes) {  // tags count even if they are empty
    bytes_left_ = bytes_left_ > bytes ? bytes_left_ - bytes : 0;
    if (bytes_left_ == 0 && broken_.empty()) broken_ = "limit: a record with too many tags";
  }

  TextsLeft only_record_;
  TextsLeft& operation_ = only_record_;
  std::size_t bytes_left_ = kRecordBytesMax;
  std::string broken_;
};

inline Wall wall(std::int64_t unix_ns) { return {unix_ns / 1000}; }

/// R6 for a price: "a price below 0"; empty: it can be one. `least`: -1 where that means "not
/// known".
inline std::string price_flaw(std::int64_t micros, std::int64_t least) {
  if (micros < least) return "R6: a price below 0";
  if (micros > model::kPriceMax.value) return "R6: a price above 1,000,000 an hour";
  return {};
}
/// R6 for a time: a clock counts from 1970, and no machine of today is there in 2100.
inline std::string time_flaw(const char* field, std::int64_t unix_ns) {
  constexpr std::int64_t kIn2100 = 4'102'444'800'000'000'000;
  if (unix_ns >= 0 && unix_ns < kIn2100) return {};
  return std::string("R6: ") + field + " is before 1970 or after 2099";
}
/// The first of them; empty: none.
inline std::string first_flaw(std::initializer_list<std::string> flaws) {
  for (const auto& flaw : flaws)
    if (!flaw.empty()) return flaw;
  return {};
}

inline model::Market market(std::uint32_t market) {
  return market == HOSTLER_MARKET_SPOT ? model::Market::kSpot : model::Market::kOnDemand;
}

}  // namespace hostler::plugin_host
