#include "tests/unit/fleet/instances.h"

#include <functional>

/// While a proved connection to a host stands.
namespace hostler::fleet {
namespace {

using model::VerifyMethod;

bool is_awaited(const Instance& instance) {
  return instance.link.is_live() && !instance.link.is_connected();
}

model::HostReady ready_again() { return {"boot-1", 2, 0, {}}; }

TEST(ConnectedTest, HoldsFromTheProofToTheEndOfTheConnection) {
  using End = std::function<void(Instance&)>;
  const std::vector<End> ends{
      [](Instance& host) { (void)lost(host, {"reset"}, pool(), at(2s)); },
      [](Instance& host) {
        (void)key_alarm(host, {"SHA256:evil", "no"}, pool(), at(2s));
      },
      [](Instance& host) { (void)terminate(host, Reason::kKilled, "", at(2s)); },
  };
  for (const auto state :
       {InstanceState::kBooting, InstanceState::kUnknown, InstanceState::kBusy}) {
    for (const End& end : ends) {
      Instance instance = instance_in(state);
      instance.link.lost();
      (void)verified(instance, {VerifyMethod::kDriver, "ssh-ed25519 old"}, pool(), at(1s));
      EXPECT_TRUE(instance.link.is_connected()) << to_string(state);
      (void)not_yet(instance, {"probe", "not yet"}, at(1s));
      EXPECT_TRUE(instance.link.is_connected()) << "it was proved";
      end(instance);
      EXPECT_FALSE(instance.link.is_connected()) << to_string(state);
    }
  }
}

TEST(ConnectedTest, AHostThatIsSwitchedOffIsNot) {
  Instance instance = instance_in(InstanceState::kIdle);
  (void)ready(instance, ready_again(), at(1s));
  ASSERT_TRUE(instance.link.is_connected());
  (void)switch_off(instance, Reason::kIdle, "", at(2s));
  EXPECT_FALSE(instance.link.is_connected());
}

TEST(ConnectedTest, IsExpectedAfterARestartUntilTheFirstTryHasEnded) {
  using Answer = std::function<void(Instance&)>;
  const std::vector<Answer> answers{
      [](Instance& host) {
        (void)not_yet(host, {"connect", "refused"}, at(2s));
      },
      [](Instance& host) { (void)ready(host, ready_again(), at(2s)); },
      [](Instance& host) { (void)lost(host, {"reset"}, pool(), at(2s)); },
      [](Instance& host) {
        (void)key_alarm(host, {"SHA256:evil", "no"}, pool(), at(2s));
      },
      [](Instance& host) {
        (void)verified(host, {VerifyMethod::kDriver, "ssh-ed25519 old"}, pool(), at(2s));
      },
  };
  for (const Answer& answer : answers) {
    Instance instance = instance_in(InstanceState::kBusy);
    (void)adopt(instance, pool(), 24h, true, at(1s));
    EXPECT_TRUE(is_awaited(instance));
    EXPECT_FALSE(instance.link.is_connected());
    answer(instance);
    EXPECT_FALSE(is_awaited(instance));
  }
}

TEST(ConnectedTest, IsNotExpectedOfAHostThatWasNeverProvedOrHasNoAddress) {
  Instance booting = instance_in(InstanceState::kBooting);
  (void)adopt(booting, pool(), 24h, false, at(1s));
  EXPECT_FALSE(is_awaited(booting));

  Instance nowhere = instance_in(InstanceState::kIdle);
  nowhere.record.address.clear();
  (void)adopt(nowhere, pool(), 24h, false, at(1s));
  EXPECT_FALSE(is_awaited(nowhere));
}

}  // namespace
}  // namespace hostler::fleet
