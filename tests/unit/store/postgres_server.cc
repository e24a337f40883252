#include "tests/unit/store/postgres_server.h"

#include <fcntl.h>
#include <grp.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "core/log/log.h"

namespace hostler::store {
namespace {

constexpr const char* kFolderOfParent = "HOSTLER_TEST_POSTGRES";

std::filesystem::path find_programs() {
  std::filesystem::path newest;
  std::error_code ignored;
  for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", ignored))
    if (std::filesystem::exists(version.path() / "bin/initdb")) newest = version.path() / "bin";
  return newest;
}

/// The server refuses to run as root.
const passwd* ordinary_user() {
  if (::getuid() != 0) return nullptr;
  const passwd* user = ::getpwnam("postgres");
  return user != nullptr ? user : ::getpwnam("nobody");
}

/// Runs a program as that user; its output goes to `output`. It ends with this process.
pid_t spawn(const std::vector<std::string>& arguments, int output, const passwd* user) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  if (user != nullptr &&
      (::setgroups(0, nullptr) != 0 || ::setgid(user->pw_gid) != 0 || ::setuid(user->pw_uid) != 0))
    ::_exit(126);
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
  ::dup2(output, 1);
  ::dup2(output, 2);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

}  // namespace

std::string PostgresServer::conninfo(const std::filesystem::path& socket_folder,
                                     const std::string& database) {
  return "host=" + socket_folder.string() + " user=hostler dbname=" + database;
}

std::string database_of(const std::string& conninfo) {
  return conninfo.substr(conninfo.rfind('=') + 1);
}

PostgresServer* PostgresServer::get() {
  static const std::unique_ptr<PostgresServer> server = []() -> std::unique_ptr<PostgresServer> {
    const auto programs = find_programs();
    if (programs.empty()) return nullptr;
    log::set_level(log::Level::kError);  // else every store warns that this one runs without fsync
    std::unique_ptr<PostgresServer> made(new PostgresServer(programs));
    if (const char* given = std::getenv(kFolderOfParent); given != nullptr) {
      made->folder_ = given;
      made->ours_ = false;
      return made;
    }
    if (!made->initialise()) throw std::runtime_error("initdb failed");
    made->start();
    ::setenv(kFolderOfParent, made->folder_.c_str(), 1);
    return made;
  }();
  return server.get();
}

bool PostgresServer::initialise() {
  std::string name = (std::filesystem::temp_directory_path() / "hostler-postgres-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) return false;
  folder_ = name;
  const passwd* user = ordinary_user();
  if (user != nullptr && ::chown(name.c_str(), user->pw_uid, user->pw_gid) != 0) return false;
  const int quiet = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  const pid_t pid = spawn({programs_ / "initdb", "-D", folder_ / "data", "--auth=trust",
                           "--username=hostler", "--encoding=UTF8", "--no-locale", "--no-sync"},
                          quiet, user);
  ::close(quiet);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status == 0;
}

void PostgresServer::start() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
  // What it says beside LOG would fill the pipe, which nobody reads once it is ready.
  pid_ = spawn({programs_ / "postgres", "-D", folder_ / "data", "-k", folder_, "-h", "", "-F", "-c",
                "log_min_messages=log", "-c", "log_checkpoints=off", "-c", "shared_buffers=16MB",
                "-c", "max_connections=60", "-c", "full_page_writes=off"},
               ends[1], ordinary_user());
  ::close(ends[1]);
  std::string said;
  char byte = 0;
  while (said.find("ready to accept connections") == std::string::npos) {
    if (::read(ends[0], &byte, 1) != 1) {
      std::fprintf(stderr, "PostgreSQL does not start: %s\n", said.c_str());
      std::abort();
    }
    said += byte;
  }
  // Kept open: the server would end at a write to a closed one.
}

void PostgresServer::stop() {
  ::kill(pid_, SIGQUIT);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

PostgresServer::~PostgresServer() {
  if (!ours_) return;
  if (pid_ != 0) stop();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string PostgresServer::sql(const std::string& conninfo, const std::string& text) {
  PGconn* const admin = PQconnectdb(conninfo.c_str());
  PGresult* const result = PQexec(admin, text.c_str());
  const auto status = PQresultStatus(result);
  std::string out;
  if (status == PGRES_TUPLES_OK && PQntuples(result) > 0) out = PQgetvalue(result, 0, 0);
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
    std::fprintf(stderr, "%s: %s\n", text.c_str(), PQerrorMessage(admin));
  PQclear(result);
  PQfinish(admin);
  return out;
}

std::string PostgresServer::new_database(const std::string& options) {
  static int number = 0;
  // A process that was started again makes databases of its own.
  const auto name = "test_" + std::to_string(::getpid()) + "_" + std::to_string(++number);
  sql(conninfo(folder_, "postgres"), "CREATE DATABASE " + name + " " + options);
  return conninfo(folder_, name);
}

std::string PostgresServer::emptied_database() {
  if (database_.empty()) return database_ = new_database();
  end_sessions(database_);
  sql(database_, "SET client_min_messages = error; DROP SCHEMA IF EXISTS hostler CASCADE");
  return database_;
}

int PostgresServer::end_sessions(const std::string& conninfo) {
  return std::atoi(sql(conninfo,
                       "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity "
                       "WHERE datname = current_database() AND pid <> pg_backend_pid()")
                       .c_str());
}

}  // namespace hostler::store
