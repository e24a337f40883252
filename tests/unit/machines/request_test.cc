#include "sdk/hosts/protocol/request.h"

#include <gtest/gtest.h>

#include "sdk/hosts/protocol/answer.h"
#include "sdk/hosts/system/failure.h"

namespace hostler::machines {
namespace {

constexpr const char* kToken = "0123456789abcdef";

Request request_with(const std::string& members) {
  return read_request(R"({"token":"0123456789abcdef",)" + members + "}", kToken);
}

/// "CODE: MESSAGE" of a request that is refused; "" if it is taken.
std::string refusal(const std::string& line) {
  try {
    read_request(line, kToken);
    return "";
  } catch (const Failure& failure) {
    return failure.code + ": " + failure.what();
  }
}

std::string refusal_with(const std::string& members) {
  return refusal(R"({"token":"0123456789abcdef",)" + members + "}");
}

TEST(MachineRequestTest, TakesAllThatACreateSays) {
  const CreateSpec spec =
      request_with(R"("op":"create","key":"k 1","authorized_keys":["ssh-ed25519 A\n","b"],
        "host_key":"secret","user_data":"#!/bin/sh\n","tags":{"a":"1"})")
          .create;

  EXPECT_EQ(spec.key, "k 1");
  EXPECT_EQ(spec.authorized_keys, (std::vector<std::string>{"ssh-ed25519 A", "b"}));
  EXPECT_EQ(spec.host_key, "secret");
  EXPECT_EQ(spec.user_data, "#!/bin/sh\n");
  EXPECT_EQ(spec.tags, (Tags{{"a", "1"}}));
}

TEST(MachineRequestTest, TellsRemovedTagsFromEmptyOnes) {
  const Request request = request_with(R"("op":"tag","id":"h-1","tags":{"a":null,"b":""})");

  EXPECT_EQ(request.id, "h-1");
  EXPECT_EQ(request.tags.at("a"), std::nullopt);
  EXPECT_EQ(request.tags.at("b"), "");
}

TEST(MachineRequestTest, RefusesAnyOtherToken) {
  for (const char* line :
       {R"({"op":"list"})", R"({"op":"list","token":1})", R"({"op":"list","token":""})",
        R"({"op":"list","token":"0123456789abcdeF"})",
        R"({"op":"list","token":"0123456789abcdef0"})", "{}"})
    EXPECT_EQ(refusal(line).rfind("unauthorized: ", 0), 0U) << line;
}

TEST(MachineRequestTest, RefusesWhatIsNoJsonObject) {
  for (const std::string& line :
       {std::string(), std::string("{"), std::string("[]"), std::string("1 2"),
        std::string("\0{}", 3), std::string("{\"a\":\"\xff\"}"), std::string(100'000, '[')})
    EXPECT_EQ(refusal(line).rfind("invalid: the line is not a JSON object", 0), 0U);
}

TEST(MachineRequestTest, NamesTheMemberThatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("op":"fly")", "`op`"},
      {R"("op":1)", "`op`"},
      {R"("op":"list","id":"h-1")", "`id`"},
      {R"("op":"destroy")", "`id`"},
      {R"("op":"destroy","id":7)", "`id`"},
      {R"("op":"create")", "`key`"},
      {R"("op":"create","key":"")", "`key`"},
      {R"("op":"create","key":"a\u0000b")", "`key`"},
      {R"("op":"create","key":"k","size":1)", "`size`"},
      {R"("op":"create","key":"k","authorized_keys":"ssh")", "`authorized_keys`"},
      {R"("op":"create","key":"k","authorized_keys":["a\nb"])", "`authorized_keys`"},
      {R"("op":"create","key":"k","authorized_keys":[""])", "`authorized_keys`"},
      {R"("op":"create","key":"k","user_data":"echo")", "`user_data`"},
      {R"("op":"create","key":"k","tags":[])", "`tags`"},
      {R"("op":"create","key":"k","tags":{"":"x"})", "`tags`"},
      {R"("op":"tag","id":"h-1")", "`tags`"},
      {R"("op":"tag","id":"h-1","tags":{"a":1})", "`tags`"}};
  for (const auto& [members, member] : cases) {
    const std::string said = refusal_with(members);
    EXPECT_EQ(said.rfind("invalid: ", 0), 0U) << members;
    EXPECT_NE(said.find(member), std::string::npos) << members << ": " << said;
  }
}

TEST(MachineRequestTest, TakesTheLongestAndRefusesOneByteMore) {
  const auto create = [](const std::string& name, std::size_t size, const std::string& first = "") {
    return R"("op":"create","key":"k",")" + name + R"(":")" + first +
           std::string(size - first.size(), 'x') + "\"";
  };

  EXPECT_EQ(refusal_with(create("user_data", 256 << 10, "#!")), "");
  EXPECT_NE(refusal_with(create("user_data", (256 << 10) + 1, "#!")), "");
  EXPECT_EQ(refusal_with(create("host_key", 16 << 10)), "");
  EXPECT_NE(refusal_with(create("host_key", (16 << 10) + 1)), "");
}

TEST(MachineRequestTest, KeepsSecretsOutOfMessages) {
  const std::string said =
      refusal_with(R"("op":"create","key":"k","user_data":"password of the site")");

  EXPECT_EQ(said.find("password"), std::string::npos);
  EXPECT_EQ(said.find(kToken), std::string::npos);
}

TEST(MachineAnswerTest, IsOneLineOfAsciiWhateverAMachinePrints) {
  const std::string line = answer_console("a\r\n\xff\x01\tb\"");

  EXPECT_EQ(line, "{\"ok\":true,\"text\":\"a\\n??\\tb\\\"\"}\n");
}

}  // namespace
}  // namespace hostler::machines
