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

// Bug: a principal with a limit of 1 MiB could use up all inodes of the disk with inputs of a byte.
TEST_P(BlobsTest, EachCountsAsOneBlockOfTheDiskAtLeast) {
  auto first = blobs().begin(kSha256OfAbc, {"user ann", 8191});
  ASSERT_TRUE((*first)->append("abc"));
  auto other = blobs().begin(std::string(64, '0'), {"user ann", 8191});
  EXPECT_FALSE((*other)->append("d"));
}

TEST_P(BlobsTest, CountForWhoUploadsThemFirstAlsoAfterARestart) {
  const auto put_by = [&](const std::string& who) -> Result<void> {
    auto upload = HOSTLER_TRY(blobs().begin(kSha256OfAbc, {who}));
    HOSTLER_TRY(upload->append("abc"));
    return upload->finish();
  };
  ASSERT_TRUE(put_by("user ann"));
  ASSERT_TRUE(put_by("user bob"));
  EXPECT_EQ(blobs().bytes_of("user ann"), 4096U);
  EXPECT_EQ(blobs().bytes_of("user bob"), 0U);
  open();

  EXPECT_EQ(blobs().bytes_of("user ann"), 4096U);
  ASSERT_TRUE(blobs().remove(kSha256OfAbc, {INT64_MAX}));
  EXPECT_EQ(blobs().bytes_of("user ann"), 0U);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "state" / "blobs" / "ba"));
}

TEST_P(BlobsTest, UploadsBeyondTheOwnersLimitAreRefusedAndLeaveNothing) {
  auto first = blobs().begin(kSha256OfAbc, {"user ann", 4097});
  ASSERT_TRUE(first);
  ASSERT_TRUE((*first)->append("ab"));
  auto other = blobs().begin(std::string(64, '0'), {"user ann", 4097});
  ASSERT_TRUE(other);

  const auto refused = (*other)->append("abc");
  ASSERT_FALSE(refused) << "what is under way counts";
  EXPECT_EQ(refused.error().code, Errc::kOverQuota);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("blob_bytes_max of user ann is 4097B"));
  EXPECT_TRUE((*blobs().begin(std::string(64, '1'), {"user bob", 4096}))->append("abc"));
  ASSERT_TRUE((*first)->append("c"));
  ASSERT_TRUE((*first)->finish());
  other->reset();
  first->reset();
  EXPECT_EQ(blobs().bytes_of("user ann"), 4096U);
  EXPECT_EQ(blobs().bytes_of("user bob"), 0U);
}

// Who may have no more could fill the disk with uploads of a blob that is there.
TEST_P(BlobsTest, AnUploadOfWhatIsThereTakesNoRoomAndIsComparedAllTheSame) {
  ASSERT_TRUE(put(kSha256OfAbc, "a", "bc"));
  auto again = blobs().begin(kSha256OfAbc, {"user ann", 0});
  ASSERT_TRUE(again);
  ASSERT_TRUE((*again)->append("abd"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "state" / "blobs" / "part"));

  EXPECT_EQ((*again)->finish().error().code, Errc::kInvalidArgument);
  EXPECT_EQ(blobs().size(kSha256OfAbc), 3U);
  EXPECT_TRUE(put(kSha256OfAbc, "ab", "c"));
}

}  // namespace
}  // namespace hostler::store
