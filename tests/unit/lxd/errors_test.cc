#include "errors.h"

#include <gtest/gtest.h>

#include "tests/unit/lxd/call.h"

namespace hostler::lxd::test {
namespace {

struct Row {
  int status;
  const char* text;
  hostler_status expected;
  std::uint32_t scope;
};

// The texts are those of LXD 5.0.2.
const Row kRows[] = {
    {500, "Reached maximum number of instances in project \"p\"", HOSTLER_E_QUOTA,
     HOSTLER_SCOPE_ACCOUNT},
    {500, "Reached maximum number of instances of type \"container\" in project \"p\"",
     HOSTLER_E_QUOTA, HOSTLER_SCOPE_ACCOUNT},
    {500, "Reached maximum aggregate value \"1GiB\" for \"limits.memory\" in project \"p\"",
     HOSTLER_E_QUOTA, HOSTLER_SCOPE_TYPE},
    {0, "Failed creating instance from image: Failed to run: write: no space left on device",
     HOSTLER_E_CAPACITY, HOSTLER_SCOPE_ACCOUNT},
    {0, "Failed creating instance from image: Unable to unpack image, run out of disk space",
     HOSTLER_E_CAPACITY, HOSTLER_SCOPE_ACCOUNT},
    {0, "Disk quota exceeded", HOSTLER_E_CAPACITY, HOSTLER_SCOPE_ACCOUNT},
    {404, "Image alias not found", HOSTLER_E_NOT_FOUND, 0},
    {400, "Image not provided for instance creation", HOSTLER_E_NOT_FOUND, 0},
    {400, "Requested profile \"NO\" doesn't exist", HOSTLER_E_NOT_FOUND, 0},
    {0, "Failed getting root disk: No root device could be found", HOSTLER_E_INVALID, 0},
    {0, "Failed creating instance record: Unknown configuration key: limits.foo", HOSTLER_E_INVALID,
     0},
    {0, "Failed creating instance record: Invalid CPU limit syntax", HOSTLER_E_INVALID, 0},
    {500, "Instance \"c1\" in project \"p\" has no \"limits.memory\" config", HOSTLER_E_INVALID, 0},
    {400, "Requested image's type \"virtual-machine\" doesn't match instance type \"container\"",
     HOSTLER_E_UNSUPPORTED, 0},
    {404, "Project not found", HOSTLER_E_INVALID, 0},
    {404, "Failed loading project \"p\": Project not found", HOSTLER_E_INVALID, 0},
    {404, "Failed to fetch instance \"c1\" in project \"p\": Instance not found",
     HOSTLER_E_NOT_FOUND, 0},
    // Of storage, which may be well the next time.
    {0,
     "Error deleting storage volume: Failed setting subvolume writable: Failed to run: btrfs "
     "property set -ts /x ro false: Invalid argument",
     HOSTLER_E_TRANSIENT, 0},
    {0, "Failed creating instance from image: Failed to mount: invalid argument",
     HOSTLER_E_TRANSIENT, 0},
    {500, "invalid character '<' looking for beginning of value", HOSTLER_E_TRANSIENT, 0},
    {400, "Invalid devices: Device validation failed", HOSTLER_E_INVALID, 0},
    {401, "not authorized", HOSTLER_E_AUTH, 0},
    {403, "Reached maximum number of instances in project \"p\"", HOSTLER_E_AUTH, 0},
    {403, "Cluster member is evacuated", HOSTLER_E_CAPACITY, HOSTLER_SCOPE_ZONE},
    {403, "Project isn't allowed to use this cluster member: \"m1\"", HOSTLER_E_INVALID,
     HOSTLER_SCOPE_ZONE},
    {403, "Project isn't allowed to use this cluster group: \"g1\"", HOSTLER_E_INVALID,
     HOSTLER_SCOPE_ZONE},
    {403, "Certificate is restricted", HOSTLER_E_AUTH, 0},
    {429, "slow down", HOSTLER_E_RATE_LIMIT, 0},
    {400, "Instance is busy running a \"create\" operation", HOSTLER_E_TRANSIENT, 0},
    {503, "LXD is shutting down", HOSTLER_E_TRANSIENT, 0},
    {0, "something that no version has said before", HOSTLER_E_TRANSIENT, 0}};

TEST(LxdErrorsTest, EachRefusalMeansWhatItSays) {
  for (const Row& row : kRows) {
    Call call;
    const auto status =
        call.run([&] { throw refusal_error(Refused(row.status, row.text), "create c1"); });
    EXPECT_EQ(status, row.expected) << row.text;
    EXPECT_EQ(call.error.scope, row.scope) << row.text;
    EXPECT_EQ(call.message(), std::string("LXD cannot create c1: ") + row.text);
  }
}

}  // namespace
}  // namespace hostler::lxd::test
