// What a console says of a host key, and how often it is asked for.
#include "core/daemon/console_keys.h"

#include <gmock/gmock.h>

#include <optional>

namespace hostler::daemon {
namespace {

using namespace std::chrono_literals;

class ConsoleKeysTest : public testing::Test {
 protected:
  ConsoleKeysTest() {
    target.instance = {7};
    target.set = "west";
    target.provider_id = "i-7";
    target.is_untouched = true;
  }
  static crypto::SshPublicKey make_key() {
    return *crypto::parse_public_key(crypto::make_ed25519_key("").public_key);
  }
  static std::string block(const crypto::SshPublicKey& key) {
    return "-----BEGIN SSH HOST KEY KEYS-----\n" + key.line() +
           "\n-----END SSH HOST KEY KEYS-----\n";
  }
  /// Unset: no answer yet.
  std::optional<Result<bool>> ask(const crypto::SshPublicKey& of) {
    const auto said = std::make_shared<std::optional<Result<bool>>>();
    keys->ask(target, of, [said](Result<bool> answer) { *said = std::move(answer); });
    last = said;
    return *said;
  }
  void is_unknown(const std::optional<Result<bool>>& answer) {
    ASSERT_TRUE(answer);
    ASSERT_FALSE(*answer);
    EXPECT_EQ(answer->error().code, Errc::kUnavailable);
  }

  Mono now = Mono(1h);
  std::string text;
  std::uint64_t offset = 0;  ///< Of the text.
  std::optional<std::uint64_t> gap;
  int reads = 0;
  bool hangs = false;
  std::function<void(model::CloudResult<model::ConsoleText>)> waiting;
  std::shared_ptr<std::optional<Result<bool>>> last;
  std::shared_ptr<ConsoleKeys> keys = std::make_shared<ConsoleKeys>(
      [this](const std::string& set, const model::ConsoleQuery& query, const auto& done) {
        EXPECT_EQ(set + " " + query.id, "west " + target.provider_id);
        ++reads;
        if (hangs) return void(waiting = done);
        model::ConsoleText out;
        out.bytes = text;
        out.offset = offset;
        out.gap = gap;
        done(out);
      },
      [this] { return now; });
  model::HostTarget target;
  const crypto::SshPublicKey key = make_key(), other = make_key();
};

TEST_F(ConsoleKeysTest, VouchesForThePrintedKeyAndForNoOther) {
  text = block(key);
  EXPECT_TRUE(*ask(key).value());
  now += 1h;
  EXPECT_FALSE(*ask(other).value());
}

TEST_F(ConsoleKeysTest, AConsoleWithoutKeysIsReadMoreAndMoreRarelyHoweverOftenLinksAsk) {
  for (const auto end = now + 10min; now < end; now += 200ms) is_unknown(ask(key));
  EXPECT_GE(reads, 10);
  EXPECT_LE(reads, 14);
  text = block(key);
  now += 1min;
  EXPECT_TRUE(*ask(key).value());
}

TEST_F(ConsoleKeysTest, WhileItIsReadOthersGetAnAnswerAtOnce) {
  hangs = true;
  EXPECT_FALSE(ask(key)) << "it is being read";
  const auto first = last;
  is_unknown(ask(key));
  EXPECT_EQ(reads, 1);
  model::ConsoleText out;
  out.bytes = block(key);
  waiting(out);
  EXPECT_TRUE(first->value().value());
}

TEST_F(ConsoleKeysTest, AConsoleThatSomebodyMayHaveWrittenIsNotEvenRead) {
  text = block(key);
  target.is_untouched = false;
  is_unknown(ask(key));
  target.is_untouched = true;
  target.identity.verified_by = model::VerifyMethod::kDriver;
  is_unknown(ask(key));
  EXPECT_EQ(reads, 0);
}

// A long console is read from its end, where an intruder may have printed a block.
TEST_F(ConsoleKeysTest, ABlockInATextWithoutItsBeginningIsNotBelieved) {
  text = block(key);
  offset = 1;
  is_unknown(ask(key));
  EXPECT_THAT(last->value().error().message, testing::HasSubstr("beginning of its console"));
  now += 1h;
  is_unknown(ask(other));
}

TEST_F(ConsoleKeysTest, ABlockBehindAMissingPieceIsNotBelieved) {
  text = "booting\n" + block(key);
  gap = 8;
  is_unknown(ask(key));
  gap = 3;
  now += 1h;
  is_unknown(ask(other));
  gap.reset();
  now += 1h;
  EXPECT_TRUE(*ask(key).value());
}

TEST_F(ConsoleKeysTest, AnotherMachineOfTheInstanceIsJudgedByItsOwnConsole) {
  text = block(other);
  EXPECT_FALSE(*ask(key).value());
  target.provider_id = "i-8";
  text = block(key);
  EXPECT_TRUE(*ask(key).value());
}

TEST_F(ConsoleKeysTest, KeepsABoundedNumberOfConsoles) {
  for (std::uint64_t n = 1; n < 3000; ++n) {
    target.instance = {n};
    is_unknown(ask(key));
  }
  target.instance = {1};
  is_unknown(ask(key));
  EXPECT_EQ(reads, 3000) << "the first was forgotten";
}

}  // namespace
}  // namespace hostler::daemon
