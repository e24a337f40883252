// What a create gets to set its machine up.
#include "core/daemon/create_secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#define ZLIB_CONST  // its input is const
#include <zlib.h>

namespace hostler::daemon {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Made {
  model::CreateRequest request;
  model::HostIdentity identity;
};
Made make(const model::SetInfo& info, model::InitDelivery delivery = model::InitDelivery::kUserData,
          const std::string& command = "echo site") {
  Made out;
  model::PoolPolicy pool;
  pool.init_command = command;
  pool.init_delivery = delivery;
  make_create_secrets({})(pool, "west", info, out.request, out.identity);
  return out;
}

TEST(CreateSecretsTest, UserDataIsTheOneWayToSetAMachineUp) {
  const auto made = make({});

  EXPECT_EQ(made.request.user_data_format, model::UserDataFormat::kSh);
  EXPECT_THAT(made.request.user_data, HasSubstr(made.identity.challenge_secret));
  EXPECT_THAT(made.request.user_data, HasSubstr("echo site"));
  EXPECT_THAT(made.request.user_data, HasSubstr(made.identity.delivered_private_key));
  EXPECT_THAT(made.request.ssh_host_key_private, IsEmpty());
}

TEST(CreateSecretsTest, ASetThatTakesNoUserDataGetsNoneAndNoSecretIsExpectedThere) {
  model::SetInfo info;
  info.user_data = false;
  info.host_key_inject = true;
  const auto made = make(info);

  EXPECT_EQ(made.request.user_data_format, model::UserDataFormat::kNone);
  EXPECT_THAT(made.request.user_data, IsEmpty());
  EXPECT_THAT(made.identity.challenge_secret, IsEmpty());
  EXPECT_THAT(made.request.ssh_host_key_private, Not(IsEmpty())) << "the driver can place it";
  EXPECT_THAT(made.request.idempotency_key, Not(IsEmpty()));
}

std::string gunzip(const std::string& from) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string out(64 * 1024, '\0');
  stream.next_in = reinterpret_cast<const Bytef*>(from.data());
  stream.avail_in = static_cast<uInt>(from.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

TEST(CreateSecretsTest, UserDataIsCompressedWhereItIsTooLongAndTheSetTakesItSo) {
  model::SetInfo info;
  info.user_data_gzip = true;
  EXPECT_FALSE(make(info).request.user_data_gzip) << "no limit is said";
  info.user_data_max_bytes = 1'000'000;
  EXPECT_FALSE(make(info).request.user_data_gzip) << "it fits";

  info.user_data_max_bytes = 100;
  const auto made = make(info);
  EXPECT_TRUE(made.request.user_data_gzip);
  const std::string script = gunzip(made.request.user_data);
  EXPECT_LT(made.request.user_data.size(), script.size());
  EXPECT_THAT(script, testing::StartsWith("#!/bin/sh"));
  EXPECT_THAT(script, HasSubstr(made.identity.challenge_secret));

  info.user_data_gzip = false;
  const auto plain = make(info);
  EXPECT_FALSE(plain.request.user_data_gzip);
  EXPECT_THAT(plain.request.user_data, testing::StartsWith("#!/bin/sh"));
}

TEST(CreateSecretsTest, AnInitCommandThatDoesNotFitComesOverTheConnection) {
  using enum model::InitDelivery;
  model::SetInfo info;
  EXPECT_THAT(make(info, kAuto).request.user_data, HasSubstr("echo site"));
  const auto by_ssh = make(info, kSsh);
  EXPECT_THAT(by_ssh.request.user_data, Not(HasSubstr("echo site")));
  EXPECT_THAT(by_ssh.request.user_data, HasSubstr("awaits"));
  EXPECT_THAT(by_ssh.request.user_data, HasSubstr(by_ssh.identity.challenge_secret));
  EXPECT_THAT(make(info, kSsh, "").request.user_data, Not(HasSubstr("awaits"))) << "it has none";

  info.user_data_max_bytes = by_ssh.request.user_data.size() + 10;
  const auto too_long = make(info, kAuto, std::string(1000, 'x'));
  EXPECT_THAT(too_long.request.user_data, HasSubstr("awaits"));
  EXPECT_LE(too_long.request.user_data.size(), info.user_data_max_bytes);
  EXPECT_GT(make(info, kUserData, std::string(1000, 'x')).request.user_data.size(),
            info.user_data_max_bytes)
      << "the create is refused";
  info.user_data_gzip = true;
  EXPECT_THAT(gunzip(make(info, kAuto, std::string(1000, 'x')).request.user_data),
              HasSubstr("xxxxx"))
      << "compressed it fits";
}

/// The secrets of a create for a pool with a cloud-config and a boot file.
Made make_of_site(const model::SetInfo& info, std::size_t bytes,
                  model::InitDelivery delivery = model::InitDelivery::kAuto) {
  Made out;
  model::PoolPolicy pool;
  pool.name = "p";
  pool.cloud_config = "#cloud-config\n# " + std::string(100, 'c') + "\n";
  pool.boot_files = std::vector<model::BootFile>{{"/etc/motd", std::string(bytes, 'x'), 0644, ""}};
  pool.init_delivery = delivery;
  out.request.host_instance_id = "h-7";
  make_create_secrets({})(pool, "west", info, out.request, out.identity);
  return out;
}

TEST(CreateSecretsTest, ACloudConfigComesBesideTheScript) {
  const auto made = make_of_site({}, 10);
  EXPECT_EQ(made.request.user_data_format, model::UserDataFormat::kMime);
  EXPECT_THAT(made.request.user_data, testing::StartsWith("MIME-Version: 1.0\n"));
  EXPECT_THAT(made.request.user_data, HasSubstr("#cloud-config\n# ccc"));
  EXPECT_THAT(made.request.user_data, HasSubstr("#!/bin/sh\n"));
  EXPECT_THAT(made.request.user_data, HasSubstr("hostler_file '/etc/motd' 0644 ''"));
  EXPECT_THAT(made.request.user_data,
              HasSubstr("HOSTLER_INSTANCE='h-7' HOSTLER_POOL='p' HOSTLER_SET='west' "
                        "HOSTLER_CLOUD_ID=''\n"));
}

TEST(CreateSecretsTest, BootFilesThatDoNotFitComeOverTheConnectionAndTheCloudConfigDoesNot) {
  model::SetInfo info;
  info.user_data_max_bytes =
      make_of_site(info, 10, model::InitDelivery::kSsh).request.user_data.size() + 10;
  const auto made = make_of_site(info, 20'000);
  EXPECT_EQ(made.request.user_data_format, model::UserDataFormat::kMime);
  EXPECT_LE(made.request.user_data.size(), info.user_data_max_bytes);
  EXPECT_THAT(made.request.user_data, HasSubstr("#cloud-config\n# ccc"));
  EXPECT_THAT(made.request.user_data, HasSubstr("awaits"));
  EXPECT_THAT(made.request.user_data, Not(HasSubstr("hostler_file")));

  info.user_data_gzip = true;
  const auto compressed = make_of_site(info, 20'000);
  EXPECT_EQ(compressed.request.user_data_format, model::UserDataFormat::kMime);
  EXPECT_THAT(gunzip(compressed.request.user_data), HasSubstr("hostler_file"));

  info = {};
  EXPECT_THAT(make_of_site(info, 10, model::InitDelivery::kSsh).request.user_data,
              testing::AllOf(HasSubstr("awaits"), HasSubstr("#cloud-config"),
                             Not(HasSubstr("hostler_file"))));
}

// Kip's fault 20: user data that was too long stopped all boots without a word.
TEST(CreateSecretsTest, ACloudConfigThatDoesNotFitIsLeftTooLongSoThatTheCreateIsRefused) {
  model::SetInfo info;
  info.user_data_max_bytes = 100;
  EXPECT_GT(make_of_site(info, 10).request.user_data.size(), info.user_data_max_bytes);
}

}  // namespace
}  // namespace hostler::daemon
