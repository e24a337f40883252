#include "core/api/access.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "core/crypto/hash.h"
#include "tests/unit/api/fake_service.h"
#include "tests/unit/api/wire.h"

/// Who may speak, and who may do what.
namespace hostler::api {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class AccessTest : public ApiTest {
 protected:
  Reply ask(const std::string& token, const std::string& method, const std::string& target,
            const std::string& body = "") {
    const std::string header =
        token.empty() ? std::string() : "Authorization: Bearer " + token + "\r\n";
    return Wire::to_port(server->tcp_port()).ask(method, target, body, header);
  }
};

const std::string kJob = R"({"jobs": [{"script": "true"}]})";

TEST_F(AccessTest, ATcpClientNeedsATokenForAllButHealth) {
  for (const std::string path : {"/v1/jobs", "/metrics", "/v1/nothing", "/v1/events"}) {
    const auto got = ask("", "GET", path);
    EXPECT_EQ(got.status, 401) << path;
    EXPECT_EQ(got.headers.at("www-authenticate"), "Bearer") << path;
    EXPECT_THAT(got.message(), HasSubstr("Authorization: Bearer")) << path;
  }
  EXPECT_EQ(ask("", "GET", "/health").status, 200);
  EXPECT_EQ(ask("", "POST", "/v1/jobs", kJob).status, 401);
  EXPECT_THAT(service.calls(), IsEmpty());
}

// Bug: the database's address and user were told to anybody who asked for health.
TEST_F(AccessTest, HealthTellsStrangersWhatIsWrongWithButNotWhat) {
  service.error = Error{Errc::kUnavailable, "connect to db.internal failed"};
  const auto stranger = ask("", "GET", "/health");
  EXPECT_EQ(stranger.status, 503);
  EXPECT_THAT(stranger.body, AllOf(HasSubstr("\"store\""), Not(HasSubstr("db.internal"))));
  EXPECT_THAT(ask("ReadReadRead", "GET", "/health").body,
              HasSubstr("store: connect to db.internal"));
}

TEST_F(AccessTest, AWrongTokenIsRefusedAndNotRepeated) {
  for (const std::string wrong :
       {"SubmitSubmi", "SubmitSubmitX", "submitsubmit", " SubmitSubmit"}) {
    const auto got = ask(wrong, "GET", "/v1/jobs");
    EXPECT_EQ(got.status, 401) << wrong;
    EXPECT_THAT(got.body, Not(HasSubstr(wrong)));
  }
  const auto basic = Wire::to_port(server->tcp_port())
                         .ask("GET", "/v1/jobs", "", "Authorization: Basic U3VibWl0\r\n");
  EXPECT_EQ(basic.status, 401);
}

TEST_F(AccessTest, EachRoleMayDoItsOwnAndNoMore) {
  struct Row {
    std::string method, path, body;
    Role needed;
  };
  const std::vector<Row> table{
      {"GET", "/v1/jobs", "", Role::kRead},
      {"GET", "/v1/jobs/j-1", "", Role::kRead},
      {"GET", "/v1/instances", "", Role::kRead},
      {"GET", "/v1/pools", "", Role::kRead},
      {"GET", "/v1/types", "", Role::kRead},
      {"GET", "/v1/sets", "", Role::kRead},
      {"GET", "/v1/gates", "", Role::kRead},
      {"GET", "/v1/why?subject=h-1", "", Role::kRead},
      {"GET", "/metrics", "", Role::kRead},
      {"GET", "/v1/debug/dump", "", Role::kAdmin},
      {"POST", "/v1/jobs", kJob, Role::kSubmit},
      {"POST", "/v1/jobs/j-1/cancel", "", Role::kSubmit},
      {"POST", "/v1/jobs/j-1/release", "", Role::kAdmin},
      {"POST", "/v1/held/release", "", Role::kAdmin},
      {"POST", "/v1/held/cancel", "", Role::kAdmin},
      {"POST", "/v1/instances/h-1/hold", "", Role::kAdmin},
      {"POST", "/v1/instances/h-1/drain", "", Role::kAdmin},
      {"POST", "/v1/instances/h-1/run", "", Role::kAdmin},
      {"POST", "/v1/instances/h-1/kill", "", Role::kAdmin},
      {"POST", "/v1/instances/h-1/ready", "", Role::kSubmit},
      {"POST", "/v1/sets/west/accept-account", "", Role::kAdmin},
      {"POST", "/v1/sets/west/believe", R"({"list": 1})", Role::kAdmin},
      {"POST", "/v1/sets/west/give-up", "", Role::kAdmin},
      {"POST", "/v1/gates/open", R"({"key": "west quota"})", Role::kAdmin},
  };
  const std::vector<std::pair<Role, std::string>> tokens{
      {Role::kRead, "ReadReadRead"}, {Role::kSubmit, "SubmitSubmit"}, {Role::kAdmin, "AdminAdmin"}};
  for (const Row& row : table)
    for (const auto& [role, token] : tokens) {
      const auto got = ask(token, row.method, row.path, row.body);
      EXPECT_EQ(got.status, role >= row.needed ? 200 : 403)
          << to_string(role) << " " << row.method << " " << row.path;
      if (got.status != 403) continue;
      EXPECT_THAT(got.message(), HasSubstr(std::string("this needs ") + to_string(row.needed)));
    }
}

TEST_F(AccessTest, TheTokensNameIsThePrincipal) {
  (void)ask("SubmitSubmit", "POST", "/v1/jobs", kJob);
  EXPECT_THAT(service.calls(), ElementsAre("submit 1 by token ci"));
}

TEST_F(AccessTest, ABackupIsForAdminsAndNeverGoesOverAPlainConnection) {
  EXPECT_THAT(ask("SubmitSubmit", "GET", "/v1/backup").message(), HasSubstr("this needs admin"));
  const auto plain = ask("AdminAdmin", "GET", "/v1/backup");
  EXPECT_EQ(plain.status, 403);
  EXPECT_THAT(plain.message(), HasSubstr("over TLS"));
  EXPECT_THAT(service.calls(), testing::IsEmpty());
  // The user of this process is the daemon's.
  Wire wire = Wire::to_socket(socket);
  (void)wire.send("GET /v1/backup HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(wire.read_until("\r\n\r\n"), HasSubstr("application/x-tar"));
  EXPECT_EQ(wire.read_until("never"), "onetwo");
}

TEST_F(AccessTest, TokensMayBeReplacedWhileItServes) {
  EXPECT_EQ(ask("AdminAdmin", "GET", "/v1/jobs").status, 200);
  server->set_tokens({Token{"new", Role::kRead, crypto::sha256_hex("Fresh")}});
  EXPECT_EQ(ask("AdminAdmin", "GET", "/v1/jobs").status, 401);
  EXPECT_EQ(ask("Fresh", "GET", "/v1/jobs").status, 200);
}

// Bug: the role read saw everybody's commands and scripts.
TEST_F(AccessTest, ReadSeesNothingOfWhatAJobDoes) {
  service.submitter = "token ci";
  EXPECT_THAT(ask("ReadReadRead", "GET", "/v1/jobs/j-1").body,
              AllOf(Not(HasSubstr("hush")), Not(HasSubstr("PASSWORD")), Not(HasSubstr("script"))));
  for (const std::string token : {"SubmitSubmit", "AdminAdmin"})
    EXPECT_THAT(ask(token, "GET", "/v1/jobs/j-1").body,
                AllOf(HasSubstr("hush"), HasSubstr("script")));
}

TEST(SightTest, IsByRoleAndSubmitter) {
  const std::string own = "token ci", other = "user ann";
  const auto sight = [&](Role role, const std::string& submitter) {
    return sight_of({own, role}, submitter);
  };
  for (const Role role : {Role::kRead, Role::kSubmit, Role::kAdmin})
    EXPECT_EQ(sight(role, own), Sight::kAll) << to_string(role);
  EXPECT_EQ(sight(Role::kRead, other), Sight::kPublic);
  EXPECT_EQ(sight(Role::kSubmit, other), Sight::kNone);
  EXPECT_EQ(sight(Role::kAdmin, other), Sight::kAll);
}

TEST_F(AccessTest, TheDaemonsOwnUserIsAdminOnTheSocket) {
  const auto got = Wire::to_socket(socket).ask("POST", "/v1/instances/h-7/hold", "");
  EXPECT_EQ(got.status, 200);
  EXPECT_THAT(service.calls().at(0), StartsWith("hold h-7 by user "));
}

TEST(PeerTest, RootAndOurOwnAreAdminOthersSubmit) {
  const Access access({});
  EXPECT_EQ(access.by_user(0).role, Role::kAdmin);
  EXPECT_EQ(access.by_user(0).name, "user root");
  EXPECT_TRUE(access.by_user(0).on_socket);
  EXPECT_EQ(access.by_user(::geteuid()).role, Role::kAdmin);
  const auto nobody = access.by_user(65534 == ::geteuid() ? 65533 : 65534);
  EXPECT_EQ(nobody.role, Role::kSubmit);
  EXPECT_EQ(access.by_user(4'000'000'001U).name, "user 4000000001");
}

TEST(PeerTest, NoTokenIsConfiguredMeansNoneIsRight) {
  const Access access({});
  EXPECT_FALSE(access.by_header("Bearer "));
  EXPECT_FALSE(access.by_header(""));
  EXPECT_FALSE(Access({Token{"t", Role::kAdmin, ""}}).by_header("Bearer "));
}

TEST(RoleTest, WordsAreReadAndWritten) {
  for (const Role role : {Role::kRead, Role::kSubmit, Role::kAdmin, Role::kScaler})
    EXPECT_EQ(parse_role(to_string(role)), role);
  EXPECT_THAT(parse_role("root").error().message, HasSubstr("'root' is no role"));
}

class ListenTest : public ApiTest {
 protected:
  std::string refusal(const ServerOptions& options) {
    const auto made = listen(options);
    return made ? "listens" : made.error().message;
  }
};

TEST_F(ListenTest, TheSocketIsItsOwnersAndItsGroups) {
  struct stat info {};
  ASSERT_EQ(::stat(socket.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0660U);
  server.reset();
  EXPECT_NE(::stat(socket.c_str(), &info), 0) << "it goes with the server";
}

TEST_F(ListenTest, ASocketThatAnswersIsNotTaken) {
  ServerOptions same;
  same.unix_socket = socket;
  EXPECT_THAT(refusal(same), AllOf(HasSubstr(socket), HasSubstr("another daemon")));
  EXPECT_EQ(Wire::to_socket(socket).ask("GET", "/health").status, 200);
}

TEST_F(ListenTest, AStaleSocketIsReplaced) {
  ServerOptions other;
  other.unix_socket = folder / "stale.sock";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, other.unix_socket.c_str(), sizeof address.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(fd);
  EXPECT_EQ(refusal(other), "listens");
}

TEST_F(ListenTest, WhatIsNoSocketIsNotRemoved) {
  ServerOptions other;
  other.unix_socket = folder / "precious";
  { const UniqueFd made(::open(other.unix_socket.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)); }
  EXPECT_THAT(refusal(other), HasSubstr(other.unix_socket));
  EXPECT_TRUE(std::filesystem::exists(other.unix_socket));
}

TEST_F(ListenTest, APortInUseIsNamed) {
  ServerOptions same;
  same.tcp_address = "127.0.0.1";
  same.tcp_port = server->tcp_port();
  EXPECT_THAT(refusal(same),
              AllOf(HasSubstr("127.0.0.1:" + std::to_string(same.tcp_port)), HasSubstr("in use")));
}

TEST_F(ListenTest, BeyondLoopbackOnlyWithTls) {
  ServerOptions open;
  open.tcp_address = "0.0.0.0";
  EXPECT_THAT(refusal(open), HasSubstr("only with TLS"));
  open.tls_certificate = folder / "none.pem";
  open.tls_key = folder / "none.key";
  EXPECT_THAT(refusal(open), AllOf(HasSubstr("none.pem"), HasSubstr("TLS")));
}

TEST_F(ListenTest, BadAddressesAreNamed) {
  ServerOptions bad;
  bad.tcp_address = "localhost";
  EXPECT_THAT(refusal(bad), HasSubstr("'localhost' is no address"));
  ServerOptions longer;
  longer.unix_socket = folder / std::string(120, 'x');
  EXPECT_THAT(refusal(longer), HasSubstr("path has at most"));
  ServerOptions nowhere;
  nowhere.unix_socket = "/nonexistent/folder/below/x.sock";
  EXPECT_THAT(refusal(nowhere), HasSubstr("/nonexistent/folder/below/x.sock"));
}

}  // namespace
}  // namespace hostler::api
