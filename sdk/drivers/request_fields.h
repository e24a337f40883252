#pragma once

#include <cstddef>
#include <hostler/driver.hpp>
#include <string>
#include <string_view>

namespace hostler::driver {

/// Fields of a request as one text, each with its length before it, so that other fields give
/// another text. By a hash of it a driver tells the retry of a create from another create with the
/// same key. The hash is kept with the instance: do not change what is here.
class RequestFields {
 public:
  void add(std::string_view field) {
    text_ += std::to_string(field.size()) + ':';
    text_ += field;
  }
  void add(const hostler_str* fields, std::size_t n) {
    text_ += std::to_string(n) + '*';
    for (std::size_t i = 0; i < n; ++i) add(view(fields[i]));
  }
  void add(const hostler_kv* tags, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) add(view(tags[i].key)), add(view(tags[i].value));
  }
  /// Without its length: only where the field after it begins with one.
  void add_prefix(std::string_view text) { text_ += text; }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace hostler::driver
