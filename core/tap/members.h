#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/masked.h"
#include "core/json/gpus.h"
#include "core/json/writer.h"
#include "core/model/cloud.h"
#include "core/model/gpus.h"
#include "core/tap/secrets.h"

/// Members of JSON objects that are left out if they say nothing. Private to core/tap.
namespace hostler::tap {

class Members {
 public:
  Members(json::Writer& out, const Secrets& secrets) : out_(out), secrets_(secrets) {}

  void text(const char* key, std::string_view value) {
    if (!value.empty()) out_.member(key, secrets_.clean(value));
  }
  void sentence(const char* key, std::string_view value) {
    if (!value.empty()) out_.member(key, secrets_.clean_sentence(value));
  }
  void secret(const char* key, std::string_view value) {
    if (!value.empty()) out_.member(key, kHidden);
  }
  void hash(const char* key, std::string_view value) {
    if (!value.empty()) out_.member(key, fingerprint(value));
  }
  template <class T>
  void number(const char* key, T value) {
    if (value != T{}) out_.member(key, value);
  }
  void gpus(std::int32_t count, const model::GpuGroups& groups) {
    json::write_gpus(out_, count, groups);
  }
  void flag(const char* key, bool value) {
    if (value) out_.member(key, true);
  }
  void money(const char* key, model::Micros value) {
    if (value.value != 0) out_.key(key).millionths(value.value);
  }
  void wall(const char* key, Wall value) { number(key, value.us); }
  void texts(const char* key, const std::vector<std::string>& values) {
    constexpr std::size_t kMost = 64;
    if (values.empty()) return;
    out_.key(key).begin_array();
    for (std::size_t i = 0; i < std::min(values.size(), kMost); ++i)
      out_.value(secrets_.clean(values[i]));
    out_.end_array();
  }
  void gpu_groups(const char* key, const model::GpuGroups& groups) {
    if (groups.empty()) return;
    out_.key(key).begin_array();
    for (const auto& group : groups)
      out_.begin_object()
          .member("kind", secrets_.clean(group.kind))
          .member("memory", group.memory)
          .member("count", group.count)
          .end_object();
    out_.end_array();
  }
  /// The values of hostler's own tags; of others, which a site chooses, only the names.
  void tags(const char* key, const model::Tags& values) {
    if (values.empty()) return;
    out_.key(key).begin_object();
    for (const auto& [name, value] : values) {
      if (name == model::tag::kKey)
        out_.member(name, fingerprint(value));
      else
        out_.member(name, name.starts_with("hostler-") ? secrets_.clean(value) : kHidden);
    }
    out_.end_object();
  }

 private:
  json::Writer& out_;
  const Secrets& secrets_;
};

/// `write` gets the members of the object that is returned.
template <class Write>
std::string object_of(const Secrets& secrets, const Write& write) {
  std::string out;
  json::Writer w(out);
  w.begin_object();
  Members members(w, secrets);
  write(members);
  w.end_object();
  return out;
}

}  // namespace hostler::tap
