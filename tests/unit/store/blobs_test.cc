#include "core/store/files/blobs.h"

#include <gmock/gmock.h>

#include "tests/unit/store/fixture.h"

namespace hostler::store {
namespace {

const std::string kSha256OfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

class BlobsTest : public StoreFixture {
 protected:
  const Blobs& blobs() { return store_->blobs(); }
  Result<void> put(const std::string& sha256, std::string_view first, std::string_view second) {
    auto upload = HOSTLER_TRY(blobs().begin(sha256));
    HOSTLER_TRY(upload->append(first));
    HOSTLER_TRY(upload->append(second));
    return upload->finish();
  }
};

HOSTLER_ON_BOTH_ENGINES(BlobsTest);

TEST_P(BlobsTest, KeepsWhatWasPutUnderItsHash) {
  EXPECT_EQ(blobs().exists(kSha256OfAbc), false);
  ASSERT_TRUE(put(kSha256OfAbc, "a", "bc"));
  ASSERT_TRUE(put(kSha256OfAbc, "ab", "c"));
  open();

  EXPECT_EQ(blobs().exists(kSha256OfAbc), true);
  EXPECT_EQ(blobs().size(kSha256OfAbc), 3U);
  const auto fd = blobs().open_blob(kSha256OfAbc);
  ASSERT_TRUE(fd);
  char bytes[10];
  EXPECT_EQ(::read(fd->get(), bytes, sizeof bytes), 3);
}

TEST_P(BlobsTest, RefusesContentThatIsNotWhatWasPromised) {
  const auto result = put(kSha256OfAbc, "a", "bd");

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(blobs().exists(kSha256OfAbc), false);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "state" / "blobs" / "part"));
}

TEST_P(BlobsTest, RefusesWhatIsNoHash) {
  EXPECT_EQ(blobs().begin("../../etc/passwd").error().code, Errc::kInvalidArgument);
  EXPECT_EQ(blobs().exists(std::string(64, 'A')).error().code, Errc::kInvalidArgument);
}

TEST_P(BlobsTest, LeavesNothingOfAnUploadThatWasGivenUp) {
  {
    auto upload = blobs().begin(kSha256OfAbc);
    ASSERT_TRUE(upload && (*upload)->append("abc"));
  }

  EXPECT_EQ(blobs().exists(kSha256OfAbc), false);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "state" / "blobs" / "part"));
}

TEST_P(BlobsTest, RefusesTooLargeABlob) {
  open({.blob_bytes_max = 2});

  EXPECT_EQ(put(kSha256OfAbc, "a", "bc").error().code, Errc::kTooLarge);
}

}  // namespace
}  // namespace hostler::store
