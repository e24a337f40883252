#include "core/ssh/multipart.h"

#include <gtest/gtest.h>

#include "core/base/files.h"
#include "tests/integration/ssh/sshd.h"
#include "tests/temp_folder.h"

namespace hostler::ssh {
namespace {

/// What Python reads of it, as cloud-init has it do: each part in a line of its own.
std::string parts_of(const std::string& text) {
  const test::TempFolder folder;
  EXPECT_TRUE(write_file(folder.path() / "data", text, 0600));
  return test::shell(
      "python3 -c 'import email, sys\n"
      "for part in email.message_from_string(open(sys.argv[1]).read()).walk():\n"
      "  print(part.get_content_type(), part.get_filename(), part.defects,\n"
      "        part.get_payload(decode=True))' " +
      (folder.path() / "data").string() + " 2>&1");
}

TEST(MultipartTest, PythonReadsBothPartsAsTheyWere) {
  const std::string text = make_multipart("#cloud-config\nhostname: a\n", "#!/bin/sh\ntrue\n");
  EXPECT_TRUE(text.starts_with("MIME-Version: 1.0\n")) << "cloud-init looks for it at the start";
  EXPECT_EQ(parts_of(text),
            "multipart/mixed None [] None\n"
            "text/cloud-config None [] b'#cloud-config\\nhostname: a\\n'\n"
            "text/x-shellscript z-hostler.sh [] b'#!/bin/sh\\ntrue\\n'");
}

// Python makes "\u20ac" of it in a part that is not encoded, and cloud-init no file at all.
TEST(MultipartTest, LettersBeyondAsciiAndLinesThatLookLikeTheEndArriveToo) {
  EXPECT_EQ(parts_of(make_multipart("#cloud-config\n# \xe2\x82\xac\n",
                                    "#!/bin/sh\n--HOSTLER_PART--\n--HOSTLER_PART_\n")),
            "multipart/mixed None [] None\n"
            "text/cloud-config None [] b'#cloud-config\\n# \\xe2\\x82\\xac\\n'\n"
            "text/x-shellscript z-hostler.sh [] "
            "b'#!/bin/sh\\n--HOSTLER_PART--\\n--HOSTLER_PART_\\n'");
}

}  // namespace
}  // namespace hostler::ssh
