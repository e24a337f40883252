// Requests and records cross to another process whole, and bytes that are wrong harm nobody.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory_resource>
#include <string>

#include "core/base/random.h"
#include "core/driver_host/wire/decoder.h"
#include "core/driver_host/wire/encoder.h"
#include "core/driver_host/wire/messages.h"
#include "core/driver_host/wire/socket.h"

namespace hostler::driver_host {
namespace {

/// Adds up the bytes of the fields that it visits.
struct Sizes {
  std::size_t total = sizeof(std::uint32_t);  // struct_size
  template <class T>
  void operator()(const T&) {
    total += sizeof(T);
  }
  template <class T>
  void reserved(const T&) {
    total += sizeof(T);
  }
  template <class T>
  void array(const T&, std::size_t) {
    total += sizeof(T) + sizeof(std::size_t);
  }
  void bytes(const std::uint8_t*, std::size_t) { total += sizeof(void*) + sizeof(std::size_t); }
  template <class T>
  void one(const T&) {
    total += sizeof(T);
  }
  template <class T>
  void each(const T&, std::size_t) {
    total += sizeof(T) + sizeof(std::size_t);
  }
};

std::string_view view(const hostler_str& s) { return {s.ptr, s.len}; }

hostler_str str(const std::string& s) { return {s.data(), s.size()}; }

struct Wire {
  std::string bytes;
  std::pmr::monotonic_buffer_resource memory;

  template <class T>
  T pass(const T& value, std::size_t size = sizeof(T)) {
    bytes.clear();
    Encoder(bytes).growable(value, size);
    Decoder decoder(bytes, memory);
    const auto read = decoder.growable<T>();
    EXPECT_TRUE(decoder.finished());
    return read;
  }
};

template <class T>
class EveryField : public testing::Test {};
using Structs =
    testing::Types<hostler_instance, hostler_set_info, hostler_price, hostler_quota_group,
                   hostler_offering, hostler_interruption, hostler_console, hostler_leftover,
                   hostler_image, hostler_instance_type, hostler_set_config, hostler_set_info_req,
                   hostler_user_data, hostler_disk, hostler_create_req, hostler_list_req,
                   hostler_destroy_req, hostler_set_tags_req, hostler_verify_req, hostler_price_req,
                   hostler_quota_group_req, hostler_power_req, hostler_offerings_req,
                   hostler_interruption_req, hostler_console_req, hostler_leftover_list_req,
                   hostler_leftover_destroy_req, hostler_images_req>;
TYPED_TEST_SUITE(EveryField, Structs);

TYPED_TEST(EveryField, OfAStructCrosses) {
  TypeParam value{};
  Sizes sizes;
  visit(value, sizes);

  EXPECT_EQ(sizes.total, sizeof value) << "a field is missing in abi_fields.h, or is there twice";
}

TEST(WireTest, ARequestArrivesWithAllThatItPointsTo) {
  hostler_instance_type type{};
  type.struct_size = sizeof type;
  type.name = HOSTLER_STR("small");
  type.ram_bytes = 1U << 30U;
  const std::array<std::uint8_t, 3> bytes{1, 0, 255};
  hostler_user_data user_data{};
  user_data.struct_size = sizeof user_data;
  user_data.bytes = bytes.data();
  user_data.n_bytes = bytes.size();
  const std::array keys{hostler_str HOSTLER_STR("ssh-ed25519 AAAA"), hostler_str{nullptr, 0}};
  const std::array tags{hostler_kv{HOSTLER_STR("hostler-key"), HOSTLER_STR("k")}};
  hostler_create_req request{};
  request.struct_size = sizeof request;
  request.idempotency_key = HOSTLER_STR("key-1");
  request.type = &type;
  request.user_data = &user_data;
  request.ssh_public_keys = keys.data();
  request.n_ssh_public_keys = keys.size();
  request.tags = tags.data();
  request.n_tags = tags.size();
  request.market = HOSTLER_MARKET_SPOT;
  Wire wire;

  const auto read = wire.pass(request);

  EXPECT_EQ(read.struct_size, sizeof request);
  EXPECT_EQ(view(read.idempotency_key), "key-1");
  EXPECT_EQ(read.idempotency_key.ptr[read.idempotency_key.len], '\0') << "law 5";
  ASSERT_NE(read.type, nullptr);
  EXPECT_EQ(view(read.type->name), "small");
  EXPECT_EQ(read.type->ram_bytes, 1U << 30U);
  ASSERT_NE(read.user_data, nullptr);
  EXPECT_EQ(std::string(read.user_data->bytes, read.user_data->bytes + 3),
            std::string("\1\0\377", 3));
  ASSERT_EQ(read.n_ssh_public_keys, 2U);
  EXPECT_EQ(view(read.ssh_public_keys[0]), "ssh-ed25519 AAAA");
  EXPECT_EQ(read.ssh_public_keys[1].len, 0U);
  ASSERT_EQ(read.n_tags, 1U);
  EXPECT_EQ(view(read.tags[0].value), "k");
  EXPECT_EQ(read.market, HOSTLER_MARKET_SPOT);
}

TEST(WireTest, AWriterThatKnowsFewerFieldsLeavesTheOthersZeroAndItsSizeSaysSo) {
  hostler_set_info info{};
  info.struct_size = offsetof(hostler_set_info, tags_max);
  info.kind = HOSTLER_REC_SET_INFO;
  info.account_id = HOSTLER_STR("account");
  info.max_concurrency = 3;
  info.tags_max = 99;  // beyond its size: not a field of this writer
  Wire wire;

  const auto read = wire.pass(info, info.struct_size);

  EXPECT_EQ(read.struct_size, offsetof(hostler_set_info, tags_max));
  EXPECT_FALSE(HOSTLER_HAS(&read, hostler_set_info, tags_max));
  EXPECT_TRUE(HOSTLER_HAS(&read, hostler_set_info, max_concurrency));
  EXPECT_EQ(read.max_concurrency, 3U);
  EXPECT_EQ(read.tags_max, 0U);
}

TEST(WireTest, AReaderThatKnowsFewerFieldsSkipsTheRest) {
  hostler_price price{};
  price.struct_size = sizeof price;
  price.kind = HOSTLER_REC_PRICE;
  price.zone = HOSTLER_STR("z1");
  std::string bytes;
  Encoder(bytes).growable(price);
  std::uint32_t size = 0;  // as if the writer knew four more bytes
  std::memcpy(&size, bytes.data(), sizeof size);
  size += 4;
  std::memcpy(bytes.data(), &size, sizeof size);
  bytes += "new!";
  std::pmr::monotonic_buffer_resource memory;
  Decoder decoder(bytes, memory);

  const auto read = decoder.growable<hostler_price>();

  EXPECT_TRUE(decoder.finished());
  EXPECT_EQ(view(read.zone), "z1");
  EXPECT_EQ(read.struct_size, sizeof price);
}

TEST(WireTest, TextsThatBreakARuleArriveAsSuch) {
  const std::string huge(kRecordTextMax + 1, 'x');
  hostler_instance instance{};
  instance.struct_size = sizeof instance;
  instance.owner = {nullptr, 5};
  instance.zone = str(huge);
  instance.n_tags = 3;
  std::string bytes;
  Encoder(bytes, kRecordTextMax).growable(instance);
  std::pmr::monotonic_buffer_resource memory;
  Decoder decoder(bytes, memory);

  const auto read = decoder.growable<hostler_instance>();

  EXPECT_TRUE(decoder.finished());
  EXPECT_EQ(read.owner.ptr, nullptr);
  EXPECT_GT(read.owner.len, 0U);
  EXPECT_EQ(read.zone.len, huge.size()) << "its length is shown, its bytes are not sent";
  EXPECT_LT(bytes.size(), 1000U);
  EXPECT_EQ(read.tags, nullptr);
  EXPECT_GT(read.n_tags, 0U);
}

/// What another process says of a text that it did not send must not be read here.
TEST(WireTest, ALengthWithoutBytesIsNeverOneThatAnybodyAccepts) {
  std::string bytes;
  Encoder encoder(bytes);
  encoder.number(kTooLong);
  encoder.number(std::uint64_t{5});
  std::pmr::monotonic_buffer_resource memory;
  Decoder decoder(bytes, memory);

  EXPECT_GT(decoder.text().len, kRecordTextMax);
}

// Bug: the driver got the length of a text that was too long to be sent, and a pointer to nothing.
TEST(WireTest, ALengthWithoutBytesIsAnErrorWhereADriverReadsTheText) {
  const std::string tag = "k";
  hostler_destroy_req too_long{}, no_text{};
  too_long.id = str(tag);
  no_text.expected_set_id = {nullptr, 5};
  hostler_set_tags_req no_array{};
  no_array.n_set = 3;
  const auto is_read = [](auto request, std::size_t bytes_max) {
    request.struct_size = sizeof request;
    std::string bytes;
    Encoder(bytes, bytes_max).growable(request);
    std::pmr::monotonic_buffer_resource memory;
    Decoder decoder(bytes, memory, Decoder::Texts::kWhole);
    (void)decoder.growable<decltype(request)>();
    return decoder.finished();
  };

  EXPECT_TRUE(is_read(too_long, 1));
  EXPECT_FALSE(is_read(too_long, 0)) << "nothing of it was sent";
  EXPECT_FALSE(is_read(no_text, 1));
  EXPECT_FALSE(is_read(no_array, 1));
}

TEST(WireTest, WrongBytesAreAnErrorAndNothingElse) {
  hostler_instance instance{};
  instance.struct_size = sizeof instance;
  instance.kind = HOSTLER_REC_INSTANCE;
  instance.id = HOSTLER_STR("i-1");
  const std::array tags{hostler_kv{HOSTLER_STR("a"), HOSTLER_STR("b")}};
  instance.tags = tags.data();
  instance.n_tags = tags.size();
  std::string good;
  Encoder(good).growable(instance);
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = good.substr(0, random.below(good.size() + 1));
    for (std::uint64_t change = random.below(4); change > 0 && !bytes.empty(); --change)
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    std::pmr::monotonic_buffer_resource memory;
    Decoder decoder(bytes, memory);
    const auto read = decoder.growable<hostler_instance>();
    std::size_t sum = 0;  // touch all that may be read
    for (const auto& text : {read.id, read.owner, read.zone})
      if (text.ptr != nullptr && text.len <= kRecordTextMax)
        for (const char c : view(text)) sum += static_cast<unsigned char>(c);
    for (std::size_t tag = 0; read.tags != nullptr && tag < read.n_tags; ++tag)
      sum += read.tags[tag].key.len;
    EXPECT_GE(sum, 0U);
  }
}

TEST(WireTest, ALongBodyIsSplitIntoMessagesAndIsWholeAgain) {
  const std::string body(200'000, 'b');
  std::string message, whole;
  std::vector<std::size_t> sizes;
  const auto flush = [&] {
    sizes.push_back(message.size());
    std::string_view rest = message;
    while (const auto frame = next_frame(rest)) {
      EXPECT_EQ(frame->head.call, 9U);
      whole += frame->body;
      EXPECT_EQ((frame->head.flags & kMore) != 0, whole.size() < body.size());
    }
    EXPECT_TRUE(rest.empty());
    message.clear();
  };

  append_frame(message, FrameType::kRecord, 9, body, kDatagramMax, flush);
  flush();

  EXPECT_EQ(whole, body);
  for (const std::size_t size : sizes) EXPECT_LE(size, kDatagramMax);
}

TEST(WireTest, AnEndArrivesWithAllFields) {
  const End end{.status = HOSTLER_E_QUOTA,
                .scope = HOSTLER_SCOPE_ZONE,
                .flags = HOSTLER_EF_OUTCOME_UNKNOWN,
                .retry_after_ms = 1500,
                .quota_limit = 10,
                .quota_used = 9,
                .texts = {"", "the quota is used up", "VcpuLimit"},
                .broken_rule = "R29: x"};

  EXPECT_EQ(read_end(to_body(end)), end);
  EXPECT_EQ(read_end(to_body(end).substr(0, 20)), std::nullopt);
}

TEST(WireTest, AHelloArrivesWithAllFields) {
  const Hello hello{.wire_version = kWireVersion,
                    .host_version = "1",
                    .name = "n",
                    .version = "v",
                    .vendor = "w",
                    .license = "l",
                    .runtime = "c",
                    .config_schema_json = "{}",
                    .threading = 2,
                    .max_concurrency = 16,
                    .min_host_minor = 1,
                    .abi_minor = 3,
                    .extensions = {"a/1", "b/1"},
                    .in_force = {"full", "process", "nice"}};

  EXPECT_EQ(read_hello(to_body(hello)), hello);
}

// Bug: the process of a driver died with requests unread, and the id that it had sent was lost.
TEST(SocketTest, WhatAProcessHasSentArrivesThoughItEndsWithMessagesUnread) {
  auto pair = *make_socket_pair();
  ASSERT_EQ(send_message(pair.ours, "unread", true), Sent::kSent);
  ASSERT_EQ(send_message(pair.theirs, "the id", true), Sent::kSent);
  pair.theirs.reset();
  std::string buffer(64, '\0');

  const auto received = receive_message(pair.ours, buffer, false, false);

  ASSERT_EQ(received.what, Received::What::kMessage);
  EXPECT_EQ(buffer.substr(0, received.size), "the id");
  EXPECT_EQ(receive_message(pair.ours, buffer, false, false).what, Received::What::kClosed);
}

}  // namespace
}  // namespace hostler::driver_host
