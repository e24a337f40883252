#include <gtest/gtest.h>
#include <sys/mman.h>

#include <string>

#include "sdk/check/host/lent_memory.h"

namespace hostler::check {
namespace {

/// Whether the byte can be read, found out without reading it.
bool is_readable(const void* at) {
  const auto page = reinterpret_cast<std::uintptr_t>(at) & ~std::uintptr_t{4095};
  return ::madvise(reinterpret_cast<void*>(page), 1, MADV_POPULATE_READ) == 0;
}

TEST(LentMemoryTest, EndsWhereAPageBeginsThatNobodyMayTouch) {
  LentMemory memory("call");
  const std::string text = "key-1";

  const auto lent = memory.lend(hostler_str{text.c_str(), text.size()});

  EXPECT_EQ(std::string(lent.ptr, lent.len), text);
  EXPECT_EQ(lent.ptr[lent.len], '\0');
  EXPECT_FALSE(is_readable(lent.ptr + lent.len + 1));
}

TEST(LentMemoryTest, IsTakenBackAtTheEnd) {
  const void* request = nullptr;
  {
    LentMemory memory("call");
    request = memory.lend_struct(hostler_set_info_req{});
    EXPECT_TRUE(is_readable(request));
  }
  EXPECT_FALSE(is_readable(request));
}

TEST(LentMemoryTest, SaysTheSizeOfALaterHostAndFillsItWithGarbage) {
  LentMemory memory("call", 64);

  const auto* const request = memory.lend_struct(hostler_list_req{});

  ASSERT_EQ(request->struct_size, sizeof(hostler_list_req) + 64);
  const auto* const tail = reinterpret_cast<const unsigned char*>(request + 1);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(tail[i], 0xa5);
}

TEST(LentMemoryTest, GivesNoPointerToWhatIsEmpty) {
  LentMemory memory("call");
  EXPECT_EQ(memory.lend(hostler_str{"", 0}).ptr, nullptr);
  EXPECT_EQ(memory.lend_array<hostler_kv>(nullptr, 0), nullptr);
}

TEST(LentMemoryTest, CopiesAllThatACreatePointsTo) {
  const hostler_kv tags[]{{HOSTLER_STR("a"), HOSTLER_STR("b")}};
  const hostler_str keys[]{HOSTLER_STR("ssh-ed25519 AAAA")};
  hostler_disk disk{};
  disk.kind = HOSTLER_STR("fast");
  const hostler_disk* const disks[]{&disk};
  hostler_instance_type type{};
  type.provider_type = HOSTLER_STR("small");
  hostler_create_req from{};
  from.type = &type;
  from.tags = tags, from.n_tags = 1;
  from.ssh_public_keys = keys, from.n_ssh_public_keys = 1;
  from.disks = disks, from.n_disks = 1;
  LentMemory memory("create");

  const auto* const to = lend(memory, from);

  EXPECT_NE(to->tags, from.tags);
  EXPECT_NE(to->tags[0].key.ptr, tags[0].key.ptr);
  EXPECT_STREQ(to->tags[0].value.ptr, "b");
  EXPECT_STREQ(to->ssh_public_keys[0].ptr, "ssh-ed25519 AAAA");
  EXPECT_STREQ(to->disks[0]->kind.ptr, "fast");
  EXPECT_STREQ(to->type->provider_type.ptr, "small");
  EXPECT_EQ(to->user_data, nullptr);
}

}  // namespace
}  // namespace hostler::check
