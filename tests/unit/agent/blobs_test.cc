#include "core/agent/host/attempt/blobs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "core/agent/host/system/sha256.h"
#include "tests/temp_folder.h"

namespace hostler::agent {
namespace {

class BlobsTest : public ::testing::Test {
 protected:
  test::WorkingFolder folder_;
};

std::string sha_of(std::string_view data) { return Sha256().update(data).finish_hex(); }

TEST_F(BlobsTest, PiecesBecomeABlobThatIsFoundAgain) {
  const std::string sha = sha_of("hello");
  {
    Blobs blobs;
    ASSERT_TRUE(blobs.open());
    EXPECT_FALSE(blobs.put({sha, 5, 0, "hel"}));
    const auto last = blobs.put({sha, 5, 3, "lo"});
    ASSERT_TRUE(last);
    EXPECT_TRUE(last->present) << last->problem;
  }
  Blobs blobs;
  ASSERT_TRUE(blobs.open());
  EXPECT_TRUE(blobs.has(sha));
}

// Bug: uploads that broke off with their connection counted for ever; after 32 no blob came in.
TEST_F(BlobsTest, UploadsThatBrokeOffLeaveNothing) {
  Blobs blobs;
  ASSERT_TRUE(blobs.open());
  for (int i = 0; i < 32; ++i)
    EXPECT_FALSE(blobs.put({sha_of("many" + std::to_string(i)), 5, 0, "m"}));
  ASSERT_TRUE(blobs.put({sha_of("hello"), 5, 0, "h"}));

  blobs.drop_incomplete();

  EXPECT_TRUE(std::filesystem::is_empty("blobs"));
  const auto whole = blobs.put({sha_of("hello"), 5, 0, "hello"});
  ASSERT_TRUE(whole);
  EXPECT_TRUE(whole->present) << whole->problem;
}

}  // namespace
}  // namespace hostler::agent
