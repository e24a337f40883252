#include "sdk/hosts/protocol/request.h"

#include <rapidjson/document.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sdk/hosts/system/failure.h"

namespace hostler::machines {
namespace {

using Value = rapidjson::Value;

constexpr std::size_t kKeyMax = 256;
constexpr std::size_t kAuthorizedKeysMax = 32;
constexpr std::size_t kSshKeyMax = std::size_t{16} * 1024;
constexpr std::size_t kUserDataMax = std::size_t{256} * 1024;
constexpr std::size_t kTagsMax = 64;
constexpr std::size_t kTagKeyMax = 128;
constexpr std::size_t kTagValueMax = 4096;
constexpr std::size_t kIdMax = 64;

constexpr std::array<std::pair<std::string_view, Operation>, 7> kOperations{{
    {"info", Operation::kInfo},
    {"create", Operation::kCreate},
    {"list", Operation::kList},
    {"tag", Operation::kTag},
    {"destroy", Operation::kDestroy},
    {"console", Operation::kConsole},
    {"end", Operation::kEnd},
}};

std::string limited(const Value& value, const std::string& name, std::size_t max) {
  if (!value.IsString()) invalid("`" + name + "` must be a string");
  if (value.GetStringLength() > max)
    invalid("`" + name + "` has " + std::to_string(value.GetStringLength()) + " bytes; at most " +
            std::to_string(max) + " are allowed");
  return {value.GetString(), value.GetStringLength()};
}

const Value* find(const Value& object, const char* name) {
  const auto found = object.FindMember(name);
  return found == object.MemberEnd() ? nullptr : &found->value;
}

const Value& need(const Value& object, const char* name) {
  const Value* value = find(object, name);
  if (value == nullptr) invalid("`" + std::string(name) + "` is missing");
  return *value;
}

bool is_printable(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c <= 0x7e; });
}

/// Equal in time that does not tell how much of it is right.
bool is_same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned differ = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    differ |=
        static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  return differ == 0;
}

void check_token(const Value& request, std::string_view token) {
  const Value* value = find(request, "token");
  if (value == nullptr || !value->IsString() ||
      !is_same({value->GetString(), value->GetStringLength()}, token))
    throw Failure("unauthorized", "`token` is missing or is not that of the connection file");
}

Operation operation_of(const Value& request) {
  const std::string name = limited(need(request, "op"), "op", kIdMax);
  std::string known;
  for (const auto& [text, operation] : kOperations) {
    if (name == text) return operation;
    known += (known.empty() ? "" : ", ") + std::string(text);
  }
  invalid("`op` is unknown; needed: one of " + known);
}

void refuse_unknown(const Value& request, std::initializer_list<std::string_view> known) {
  for (const auto& member : request.GetObject()) {
    const std::string_view name(member.name.GetString(), member.name.GetStringLength());
    if (name == "op" || name == "token") continue;
    if (std::find(known.begin(), known.end(), name) == known.end())
      invalid("this `op` has no member `" + std::string(name.substr(0, kIdMax)) + "`");
  }
}

std::vector<std::string> read_authorized_keys(const Value& list) {
  if (!list.IsArray() || list.Size() > kAuthorizedKeysMax)
    invalid("`authorized_keys` must be a list of at most " + std::to_string(kAuthorizedKeysMax) +
            " lines");
  std::vector<std::string> keys;
  for (const Value& item : list.GetArray()) {
    std::string line = limited(item, "authorized_keys", kSshKeyMax);
    while (!line.empty() && line.back() == '\n') line.pop_back();
    const bool has_control = std::any_of(line.begin(), line.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 && c != '\t';
    });
    if (line.empty() || has_control) invalid("`authorized_keys`: each key must be one line");
    keys.push_back(std::move(line));
  }
  return keys;
}

void read_create(const Value& request, CreateSpec& spec) {
  refuse_unknown(request, {"key", "authorized_keys", "host_key", "user_data", "tags"});
  spec.key = limited(need(request, "key"), "key", kKeyMax);
  if (spec.key.empty() || !is_printable(spec.key))
    invalid("`key` must be 1 to 256 printable ASCII characters");
  if (const Value* keys = find(request, "authorized_keys"))
    spec.authorized_keys = read_authorized_keys(*keys);
  if (const Value* key = find(request, "host_key"))
    spec.host_key = limited(*key, "host_key", kSshKeyMax);
  if (const Value* data = find(request, "user_data"))
    spec.user_data = limited(*data, "user_data", kUserDataMax);
  if (!spec.user_data.empty() && spec.user_data.compare(0, 2, "#!") != 0)
    invalid("`user_data` must begin with #!");
  if (const Value* tags = find(request, "tags")) {
    if (!tags->IsObject()) invalid("`tags` must be an object of strings");
    for (const auto& tag : tags->GetObject())
      spec.tags[{tag.name.GetString(), tag.name.GetStringLength()}] =
          limited(tag.value, "tags", kTagValueMax);
    check_tags(spec.tags);
  }
}

void read_tag(const Value& request, Request& result) {
  refuse_unknown(request, {"id", "tags"});
  const Value& tags = need(request, "tags");
  if (!tags.IsObject()) invalid("`tags` must be an object of strings and nulls");
  for (const auto& tag : tags.GetObject()) {
    std::optional<std::string> value;
    if (!tag.value.IsNull()) value = limited(tag.value, "tags", kTagValueMax);
    result.tags[{tag.name.GetString(), tag.name.GetStringLength()}] = std::move(value);
  }
}

}  // namespace

void check_tags(const Tags& tags) {
  if (tags.size() > kTagsMax)
    invalid("`tags` has " + std::to_string(tags.size()) + " tags; at most " +
            std::to_string(kTagsMax) + " are allowed");
  for (const auto& [key, value] : tags)
    if (key.empty() || key.size() > kTagKeyMax || value.size() > kTagValueMax)
      invalid("`tags`: a key has 1 to 128 bytes, and a value at most 4096");
}

Request read_request(std::string_view line, std::string_view token) {
  rapidjson::Document document;
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
  document.Parse<kFlags>(line.data(), line.size());
  if (document.HasParseError() || !document.IsObject())
    invalid("the line is not a JSON object, at byte " + std::to_string(document.GetErrorOffset()));
  check_token(document, token);
  Request request;
  request.operation = operation_of(document);
  switch (request.operation) {
    case Operation::kCreate:
      read_create(document, request.create);
      return request;
    case Operation::kTag:
      read_tag(document, request);
      break;
    case Operation::kDestroy:
    case Operation::kConsole:
      refuse_unknown(document, {"id"});
      break;
    case Operation::kInfo:
    case Operation::kList:
    case Operation::kEnd:
      refuse_unknown(document, {});
      return request;
  }
  request.id = limited(need(document, "id"), "id", kIdMax);
  return request;
}

}  // namespace hostler::machines
