// A cloud whose driver dies: in each create of a type whose name ends with "-poison", and in each
// destroy and list while the file `die_in_destroy` or `die_in_list` is in its folder. While
// `log_of_no_call` is there, a list writes a line about a call that is none. It notes each call
// before anything else.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "folder_cloud.h"

namespace {

using folder_cloud::FolderCloud;
using folder_cloud::view;

void die() {
  std::fputs("these are my last words\n", stderr);
  std::fflush(stderr);
  std::raise(SIGSEGV);
}

void log_of_no_call(const hostler_host& host) {
  hostler_log_line line{};
  line.struct_size = sizeof line;
  line.level = HOSTLER_LOG_WARNING;
  line.op = reinterpret_cast<const hostler_op*>(std::uintptr_t{16});
  line.message = {"a list was made", std::strlen("a list was made")};
  host.log(&host, &line);
}

class MortalCloud : public FolderCloud {
 public:
  static hostler::driver::About about() {
    return {"mortal", "0.7", "test", "Apache-2.0", "{}", HOSTLER_THREAD_CONCURRENT, 16};
  }
  MortalCloud(const hostler_host& host, const hostler_set_config& config, hostler_op*)
      : FolderCloud(config), host_(host) {}

  void info(const hostler_set_info_req&, hostler_op* op) {
    hostler::driver::emit(op, info_of("mortal"));
  }
  void create(const hostler_create_req& request, hostler_op* op) {
    const std::string type(view(request.type->provider_type));
    note("create " + type);
    if (type.ends_with("-poison")) die();
    make_machine(request, op);
  }
  void list(const hostler_list_req&, hostler_op* op) {
    note("list");
    if (has("die_in_list")) die();
    if (has("log_of_no_call")) log_of_no_call(host_);
    emit_machines(op);
  }
  void destroy(const hostler_destroy_req& request, hostler_op*) {
    note("destroy");
    if (has("die_in_destroy")) die();
    remove_machine(request);
  }

 private:
  const hostler_host& host_;
};

}  // namespace

HOSTLER_REGISTER(MortalCloud)
