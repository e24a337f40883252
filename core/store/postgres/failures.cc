#include "core/store/postgres/failures.h"

namespace hostler::store::postgres {

Failure failure_of(std::string_view sqlstate) {
  if (sqlstate == "42501") return Failure::kTransient;  // a permission: an admin can grant it
  const auto cls = sqlstate.substr(0, 2);
  // Data, constraints, syntax and names, limits of the server: a retry would fail in the same way.
  const bool ours = cls == "22" || cls == "23" || cls == "42" || cls == "54";
  return ours ? Failure::kProgramError : Failure::kTransient;
}

bool ends_session(std::string_view sqlstate) {
  return sqlstate == "25006"     // read-only: no primary any more
         || sqlstate == "26000"  // a pooler gave us another session
         || sqlstate == "0A000"  // a plan that does not fit a changed table
         || sqlstate.starts_with("08") || sqlstate.starts_with("57P");
}

std::string_view advice(std::string_view sqlstate) {
  if (sqlstate == "53100") return "; the server's disk is full: make room there";
  if (sqlstate == "53300") return "; raise max_connections of the server";
  if (sqlstate == "55P03") return "; another session has it locked: end that one";
  if (sqlstate == "42501")
    return "; give hostlerd's role the database: ALTER DATABASE name OWNER TO role";
  if (sqlstate == "25006") return "; the server is a standby: name the primary";
  if (sqlstate.starts_with("XX"))
    return "; the database may be damaged: look into the server's log";
  return "";
}

std::string_view advice_on_refusal(std::string_view message) {
  const auto says = [&](std::string_view what) { return message.find(what) != message.npos; };
  if (says("role \"") && says("does not exist"))
    return "; make the role with createuser, or name another by user=";
  if (says("database \"") && says("does not exist"))
    return "; make the database: createdb --encoding=UTF8 --template=template0 --owner=ROLE NAME";
  if (says("password") || says("authentication failed") || says("pg_hba.conf"))
    return "; let the server know the daemon's user (pg_hba.conf: peer), or put the password into "
           "a file of mode 0600 and name it by passfile=";
  if (says("read-only") || says("standby")) return "; name the primary";
  return "; see that the server runs and that store.postgres names it";
}

}  // namespace hostler::store::postgres
