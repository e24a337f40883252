#pragma once

#include <hostler/driver.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hostler::liar {

/// A copy of an instance's record that outlives the call in which it was emitted.
class Saved {
 public:
  explicit Saved(const hostler_instance& seen);

  /// To be read and changed. Its addresses and tags are those of record().
  hostler_instance fields;

  std::string_view id() const { return driver::view(fields.id); }
  bool has_tag(std::string_view key, std::string_view value) const;
  void set_tag(std::string_view key, const std::string& value);
  /// Keeps only the tags whose key `keep` returns true for.
  template <class Keep>
  void filter_tags(Keep keep) {
    std::vector<hostler_kv> kept;
    for (const auto& tag : tags_)
      if (keep(driver::view(tag.key))) kept.push_back(tag);
    tags_ = kept;
  }
  void set_id(const std::string& id) { fields.id = own(id); }

  /// Borrowed: valid while this object lives unchanged.
  hostler_instance record() const;

 private:
  hostler_str own(std::string_view text);

  std::vector<std::shared_ptr<const std::string>> texts_;  // copies of this object share them
  std::vector<hostler_address> addresses_;
  std::vector<hostler_kv> tags_;
};

}  // namespace hostler::liar
