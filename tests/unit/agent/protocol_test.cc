#include "core/agent/protocol.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/random.h"

namespace hostler::agent {
namespace {

const model::AttemptId kAttempt{model::WorkId{42}, 3};

Start a_start() {
  Start start;
  start.attempt = kAttempt;
  start.boot_id = "boot";
  start.sequence = 7;
  start.command = {"/bin/echo", "", std::string("nul\0inside", 10)};
  start.env = {{"A", "1"}, {"B", ""}};
  start.stdin_text = "in";
  start.inputs = {{"a/b", std::string(64, 'f'), true}};
  start.outputs = {"*.txt"};
  start.time_limit_us = 1;
  start.credit = UINT64_MAX;
  start.cards = {"GPU-1", "GPU-2"};
  start.files = {"/dev/nvidia0"};
  return start;
}

Exit an_exit() {
  Exit exit;
  exit.attempt = kAttempt;
  exit.end.reason = model::EndReason::kSignal;
  exit.end.exit_code = -1;
  exit.end.signal = 9;
  exit.end.text = "t";
  exit.end.stdout_bytes = 3;
  exit.end.stdout_inline = "out";
  exit.end.cpu_us = -5;
  exit.end.started.us = 1;
  exit.end.ended.us = 2;
  return exit;
}

std::vector<ToAgent> all_to_agent() {
  Configure configure;
  configure.checks = {{"c", "true", 1, 2, Check::Kind::kInterrupted}};
  configure.cards_command = "list-cards";
  configure.cards_timeout_us = 7;
  return {Quit{},
          configure,
          a_start(),
          Kill{kAttempt, true},
          Interrupt{kAttempt, 1, -2, 3, model::InterruptionAction::kStop},
          List{},
          Ack{{kAttempt, kAttempt}},
          Credit{kAttempt, 1, 2, 3},
          ListFiles{kAttempt},
          BlobQuery{"ab"},
          BlobPut{"ab", 4, 2, "xy"},
          Ping{9},
          Guard{{"/dev/nvidia0", "/dev/nvidia1"}}};
}

std::vector<FromAgent> all_from_agent() {
  return {Hello{1, "b", "s", "sha", 1000, Limits::kCgroupV2, 8},
          Listing{{{kAttempt, Phase::kUnknownEnd, {"GPU-1"}}}, false},
          Started{kAttempt, -1},
          Refused{kAttempt, Refused::Why::kBusy, "why"},
          an_exit(),
          Output{kAttempt, 5, 6, "data"},
          OutputLost{kAttempt, 0, "gone"},
          Files{kAttempt, {{"p", 1, 0644, ""}, {"q", 0, 0, "link"}}, true},
          BlobState{"ab", true, ""},
          HostBroken{"c", "t"},
          SpotNotice{"soon"},
          Pong{9},
          Problem{"p"},
          Scratch{7},
          Ram{8},
          Cards{Cards::Tool::kRocm,
                3,
                true,
                true,
                "text",
                {{"/dev/dri/card0", "0000:3b:00.0"}},
                model::CardGuard::kCgroup1}};
}

template <class Variant>
std::string bytes_of(const Variant& message) {
  std::string out;
  std::visit([&](const auto& m) { EXPECT_TRUE(encode(m, out)); }, message);
  return out;
}

template <class Variant>
Result<std::optional<Variant>> decode(const std::string& bytes) {
  Decoder<Variant> decoder;
  decoder.feed(bytes);
  return decoder.next();
}

template <class Variant>
void expect_round_trips(const std::vector<Variant>& messages) {
  ASSERT_EQ(messages.size(), std::variant_size_v<Variant>);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    ASSERT_EQ(messages[i].index(), i);
    const std::string bytes = bytes_of(messages[i]);
    const auto back = decode<Variant>(bytes);
    ASSERT_TRUE(back) << i << ": " << back.error().message;
    ASSERT_TRUE(*back);
    EXPECT_EQ((*back)->index(), i);
    EXPECT_EQ(bytes_of(**back), bytes) << i;
  }
}

TEST(ProtocolTest, EveryMessageSurvivesTheWire) {
  expect_round_trips(all_to_agent());
  expect_round_trips(all_from_agent());
  const auto back = decode<ToAgent>(bytes_of(ToAgent(a_start())));
  ASSERT_TRUE(back && *back);
  EXPECT_EQ(std::get<Start>(**back), a_start());
}

TEST(ProtocolTest, AFrameThatIsCutAnywhereIsWaitedFor) {
  for (const ToAgent& message : all_to_agent()) {
    const std::string bytes = bytes_of(message);
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
      const auto got = decode<ToAgent>(bytes.substr(0, cut));
      ASSERT_TRUE(got);
      EXPECT_FALSE(*got) << cut;
    }
  }
}

/// The frame whose body is the first `length` bytes after the length.
std::string shortened(std::string bytes, std::size_t length) {
  bytes.resize(4 + length);
  for (unsigned i = 0; i < 4; ++i) bytes[i] = static_cast<char>((length >> (8 * i)) & 0xff);
  return bytes;
}

template <class Variant>
void expect_strict(const std::vector<Variant>& messages) {
  for (const Variant& message : messages) {
    const std::string bytes = bytes_of(message);
    for (std::size_t length = 0; length + 4 < bytes.size(); ++length) {
      const auto got = decode<Variant>(shortened(bytes, length));
      ASSERT_FALSE(got) << message.index() << " cut at " << length;
      EXPECT_EQ(got.error().code, Errc::kMisbehaving);
    }
    std::string longer = shortened(bytes + "x", bytes.size() - 3);
    longer.back() = 'x';
    const auto got = decode<Variant>(longer);
    ASSERT_FALSE(got) << message.index();
    EXPECT_NE(got.error().message.find("1 bytes too many"), std::string::npos)
        << got.error().message;
  }
}

TEST(ProtocolTest, ABodyThatIsTooShortOrTooLongIsAnError) {
  expect_strict(all_to_agent());
  expect_strict(all_from_agent());
}

TEST(ProtocolTest, ErrorsNameTheField) {
  const auto error_of = [](const std::string& bytes) {
    const auto got = decode<ToAgent>(bytes);
    return got ? std::string("no error") : got.error().message;
  };
  std::string kill = bytes_of(ToAgent(Kill{kAttempt, true}));
  kill.back() = 2;
  EXPECT_EQ(error_of(kill), "kill.at_once: neither 0 nor 1");
  std::string start = bytes_of(ToAgent(a_start()));
  EXPECT_EQ(error_of(shortened(start, 40)), "start.command[0]: cut short");
  start[17] = start[18] = start[19] = start[20] = '\xff';  // length of boot_id
  EXPECT_EQ(error_of(start), "start.boot_id: 4294967295 is more than 128 bytes");
  EXPECT_EQ(error_of(std::string("\1\0\0\0\x63", 5)), "frame type 99 is unknown");
  EXPECT_EQ(error_of(std::string("\0\0\0\0", 4)), "frame length 0 is not between 1 and 4194304");
  EXPECT_EQ(error_of(std::string("\0\0\0\x7f", 4)),
            "frame length 2130706432 is not between 1 and 4194304");
}

TEST(ProtocolTest, WhatIsTooLargeIsNotEncoded) {
  Start start = a_start();
  start.command = {"x", std::string(200'000, 'a')};
  std::string out = "before";

  const auto encoded = encode(start, out);

  ASSERT_FALSE(encoded);
  EXPECT_EQ(encoded.error().code, Errc::kTooLarge);
  EXPECT_EQ(encoded.error().message, "start.command[1]: 200000 is more than 131072 bytes");
  EXPECT_EQ(out, "before");
}

TEST(ProtocolTest, AFrameBeyondItsLimitIsNotEncoded) {
  Start start = a_start();
  start.command.assign(40, std::string(130'000, 'a'));
  std::string out;

  const auto encoded = encode(start, out);

  ASSERT_FALSE(encoded);
  EXPECT_EQ(encoded.error().code, Errc::kTooLarge);
}

TEST(ProtocolTest, MessagesComeOutWhateverTheReads) {
  std::string all;
  for (const FromAgent& message : all_from_agent()) all += bytes_of(message);
  Random random(1);
  for (int round = 0; round < 50; ++round) {
    Decoder<FromAgent> decoder;
    std::size_t count = 0;
    for (std::size_t at = 0; at < all.size();) {
      const std::size_t size = std::min<std::size_t>(1 + random.below(20), all.size() - at);
      decoder.feed(all.substr(at, size));
      at += size;
      for (;;) {
        const auto message = decoder.next();
        ASSERT_TRUE(message);
        if (!*message) break;
        EXPECT_EQ((*message)->index(), count++);
      }
    }
    EXPECT_EQ(count, std::variant_size_v<FromAgent>);
    EXPECT_EQ(decoder.buffered(), 0u);
  }
}

TEST(ProtocolTest, AnyBytesAreDecodedOrRefusedButNeverTrusted) {
  Random random(2);
  for (const ToAgent& message : all_to_agent()) {
    const std::string bytes = bytes_of(message);
    for (int round = 0; round < 500; ++round) {
      std::string broken = bytes;
      broken[4 + random.below(broken.size() - 4)] = static_cast<char>(random.next());
      const auto got = decode<ToAgent>(broken);
      // What is accepted is exactly what its own encoding says.
      if (got && *got) {
        EXPECT_EQ(bytes_of(**got), broken);
      }
    }
  }
}

}  // namespace
}  // namespace hostler::agent
