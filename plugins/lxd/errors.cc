#include "errors.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <vector>

namespace hostler::lxd {
namespace {

struct Meaning {
  hostler_status status;
  std::uint32_t scope;
  std::vector<std::string_view> words;  ///< Lower case; all of them, in this order.
};

/// The first that fits. LXD reports these as failed operations or with status 400 or 500, whatever
/// they are.
const std::vector<Meaning>& meanings() {
  static const std::vector<Meaning> kMeanings = {
      // Limits of a project. An aggregate may leave room for a smaller type, a number does not.
      {HOSTLER_E_QUOTA, HOSTLER_SCOPE_ACCOUNT, {"reached maximum number of instances"}},
      {HOSTLER_E_QUOTA, HOSTLER_SCOPE_TYPE, {"reached maximum aggregate value"}},
      {HOSTLER_E_QUOTA, HOSTLER_SCOPE_ACCOUNT, {"reached maximum number of"}},
      // Storage is shared by all types, unless profiles say otherwise, which nobody can tell from
      // here.
      {HOSTLER_E_CAPACITY, HOSTLER_SCOPE_ACCOUNT, {"no space left"}},
      {HOSTLER_E_CAPACITY, HOSTLER_SCOPE_ACCOUNT, {"out of disk space"}},
      {HOSTLER_E_CAPACITY, HOSTLER_SCOPE_ACCOUNT, {"disk quota exceeded"}},
      {HOSTLER_E_CAPACITY, HOSTLER_SCOPE_ACCOUNT, {"insufficient free space"}},
      {HOSTLER_E_CAPACITY, HOSTLER_SCOPE_ACCOUNT, {"not enough", "space"}},
      {HOSTLER_E_CAPACITY, HOSTLER_SCOPE_TYPE, {"cannot allocate memory"}},
      {HOSTLER_E_CAPACITY, HOSTLER_SCOPE_SUBNET, {"no available ip"}},
      {HOSTLER_E_CAPACITY, HOSTLER_SCOPE_SUBNET, {"no free ip"}},
      {HOSTLER_E_CAPACITY, HOSTLER_SCOPE_SUBNET, {"no more", "addresses"}},
      {HOSTLER_E_CAPACITY, HOSTLER_SCOPE_ZONE, {"cluster member", "offline"}},
      {HOSTLER_E_CAPACITY, HOSTLER_SCOPE_ZONE, {"no suitable cluster member"}},
      {HOSTLER_E_NOT_FOUND, 0, {"image", "not found"}},
      {HOSTLER_E_NOT_FOUND, 0, {"image not provided"}},  // a fingerprint that is not there
      {HOSTLER_E_NOT_FOUND, 0, {"image", "couldn't be found"}},
      {HOSTLER_E_NOT_FOUND, 0, {"profile", "not found"}},
      {HOSTLER_E_NOT_FOUND, 0, {"profile", "doesn't exist"}},
      {HOSTLER_E_NOT_FOUND, 0, {"network", "not found"}},
      {HOSTLER_E_NOT_FOUND, 0, {"storage pool", "not found"}},
      // What a program of LXD's said of a file or a device: the next time it may be well.
      {HOSTLER_E_TRANSIENT, 0, {"failed to run"}},
      {HOSTLER_E_INVALID, 0, {"project not found"}},
      {HOSTLER_E_INVALID, 0, {"instance", "has no \"limits."}},  // what a limited project demands
      {HOSTLER_E_INVALID, 0, {"forbidden"}},  // what a restricted project refuses
      {HOSTLER_E_INVALID, 0, {"no root device"}},
      {HOSTLER_E_INVALID, 0, {"unknown configuration key"}},
      {HOSTLER_E_INVALID, 0, {"failed creating instance record", "invalid"}},
      {HOSTLER_E_INVALID, 0, {"invalid config"}},
      {HOSTLER_E_INVALID, 0, {"invalid devices"}},
      {HOSTLER_E_INVALID, 0, {"invalid value"}},
      {HOSTLER_E_INVALID, 0, {"device validation failed"}},
      {HOSTLER_E_UNSUPPORTED, 0, {"image's type", "doesn't match"}},  // one for virtual machines
      {HOSTLER_E_TRANSIENT, 0, {"shutting down"}},
      {HOSTLER_E_TRANSIENT, 0, {"context canceled"}}};
  return kMeanings;
}

/// Of status 403, which otherwise says that the client may not ask.
const std::vector<Meaning>& meanings_of_forbidden() {
  static const std::vector<Meaning> kMeanings = {
      {HOSTLER_E_CAPACITY, HOSTLER_SCOPE_ZONE, {"cluster member is evacuated"}},
      {HOSTLER_E_INVALID, HOSTLER_SCOPE_ZONE, {"project isn't allowed to use this cluster"}}};
  return kMeanings;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool has(std::string_view text, const std::vector<std::string_view>& words) {
  std::size_t at = 0;
  for (const std::string_view word : words) {
    at = text.find(word, at);
    if (at == std::string_view::npos) return false;
    at += word.size();
  }
  return true;
}

/// Where the text says nothing.
hostler_status by_number(int status) {
  switch (status) {
    case 401:
    case 403:
      return HOSTLER_E_AUTH;
    case 404:
      return HOSTLER_E_NOT_FOUND;
    case 409:
      return HOSTLER_E_CONFLICT;
    case 429:
      return HOSTLER_E_RATE_LIMIT;
    default:
      return HOSTLER_E_TRANSIENT;
  }
}

}  // namespace

bool says_exists(const Refused& refused) {
  return refused.status() == 409 || has(lower(refused.text()), {"already exists"});
}

bool says_missing(const Refused& refused) { return refused.status() == 404; }

// Incus names the project of a missing instance too.
bool says_missing_project(const Refused& refused) {
  return says_missing(refused) && has(lower(refused.text()), {"project not found"});
}

bool says_forbidden(const Refused& refused) {
  return by_number(refused.status()) == HOSTLER_E_AUTH;
}

bool says_busy(const Refused& refused) {
  const std::string text = lower(refused.text());
  return has(text, {"busy running"}) || has(text, {"instance is busy"}) ||
         has(text, {"operation", "already in progress"});
}

bool says_done(const Refused& refused) {
  const std::string text = lower(refused.text());
  return has(text, {"is already running"}) || has(text, {"is already stopped"}) ||
         has(text, {"is already frozen"});
}

driver::Error refusal_error(const Refused& refused, const std::string& doing) {
  hostler_status status = by_number(refused.status());
  std::uint32_t scope = 0;
  if (status != HOSTLER_E_RATE_LIMIT && !says_busy(refused)) {
    const std::string text = lower(refused.text());
    // Who may not ask gets no word about what is there.
    const auto& known = status == HOSTLER_E_AUTH ? meanings_of_forbidden() : meanings();
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const Meaning& one) { return has(text, one.words); });
    if (found != known.end()) status = found->status, scope = found->scope;
  }
  driver::Error error(status, "LXD cannot " + doing + ": " + refused.text());
  if (scope != 0) error.about(scope);
  return error;
}

}  // namespace hostler::lxd
