// What a create gets to set its machine up.
#include "core/daemon/create_secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hostler::daemon {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Made {
  model::CreateRequest request;
  model::HostIdentity identity;
};
Made make(const model::SetInfo& info) {
  Made out;
  model::PoolPolicy pool;
  pool.init_command = "echo site";
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

}  // namespace
}  // namespace hostler::daemon
