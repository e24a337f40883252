#include <rapidjson/document.h>

#include "http/text.h"
#include "keys.h"

namespace hostler::ec2 {
namespace {

using driver::Error;

constexpr std::int64_t kMetadataTimeoutMs = 5'000;
constexpr const char* kRoles = "/latest/meta-data/iam/security-credentials/";

std::string ask(http::Transport& metadata, http::Request request, hostler_op* op) {
  request.timeout_ms = kMetadataTimeoutMs;
  request.is_question = true;
  http::Answer answer;
  try {
    answer = metadata.send(request, op);
  } catch (const http::NoAnswer& problem) {
    if (!problem.is_worth_retry()) throw;
    throw Error(HOSTLER_E_AUTH,
                std::string("there are no credentials, and no instance role, since no metadata "
                            "service answers: set `credentials_file` of the set (") +
                    problem.what() + ")");
  }
  if (answer.status == 200) return answer.body;
  const bool has_no_role = answer.status == 404;
  throw Error(has_no_role || answer.status < 500 ? HOSTLER_E_AUTH : HOSTLER_E_TRANSIENT,
              has_no_role
                  ? "this machine has no instance role: give it one, or set "
                    "`credentials_file` of the set"
                  : "there are no credentials, and the metadata service of this machine "
                    "answers with status " +
                        std::to_string(answer.status) + ": set `credentials_file` of the set");
}

std::string member_text(const rapidjson::Document& document, const char* name) {
  if (!document.IsObject() || !document.HasMember(name) || !document[name].IsString()) return {};
  return {document[name].GetString(), document[name].GetStringLength()};
}

}  // namespace

Keys keys_of_machine(http::Transport& metadata, hostler_op* op) {
  const std::string token =
      ask(metadata,
          {"PUT", "/latest/api/token", {}, {}, {"X-aws-ec2-metadata-token-ttl-seconds: 300"}}, op);
  const std::vector<std::string> with_token{"X-aws-ec2-metadata-token: " + token};
  std::string role = ask(metadata, {"GET", kRoles, {}, {}, with_token}, op);
  role = role.substr(0, role.find('\n'));
  const std::string body =
      ask(metadata, {"GET", kRoles + http::encoded(role), {}, {}, with_token}, op);
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(body.data(), body.size());
  Keys out;
  out.access_key_id = member_text(document, "AccessKeyId");
  out.secret_access_key = member_text(document, "SecretAccessKey");
  out.session_token = member_text(document, "Token");
  out.expires_unix_s = http::read_time_ns(member_text(document, "Expiration")) / 1'000'000'000;
  if (out.secret_access_key.empty() || out.session_token.empty() || out.expires_unix_s == 0)
    throw Error(HOSTLER_E_AUTH, "the metadata service of this machine has no keys for the role " +
                                    role + ": " + member_text(document, "Code"));
  return out;
}

}  // namespace hostler::ec2
