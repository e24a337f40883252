#include "tests/bench/lxd/quick_lxd.h"

#include <cstring>

namespace hostler::lxd::bench {
namespace {

using hostler::bench::QuickRequest;
using hostler::bench::QuickServer;

/// As LXD 5.0.2 shows one that runs, without what the driver does not read.
std::string instance(int number) {
  const std::string key = "00000000-0000-4000-8000-" + std::to_string(100'000'000'000 + number);
  return R"({"name":"hostler-)" + key +
         R"(","type":"container","status":"Running","status_code":103,"location":"none",)" +
         R"("description":"","created_at":"2026-11-24T19:37:45.5Z",)" +
         R"("last_used_at":"2026-11-24T19:37:48Z","architecture":"x86_64","config":{)" +
         R"("cloud-init.user-data":")" + std::string(2000, '#') + R"(","limits.cpu":"2",)" +
         R"("user.hostler-key":")" + key + R"(","user.hostler-set":"s","user.hostler-owner":"o",)" +
         R"("user.hostler-pool":"default","user.hostler-type":"small",)" +
         R"("volatile.eth0.hwaddr":"00:16:3e:00:00:01"},"state":{"network":{"eth0":{)" +
         R"("hwaddr":"00:16:3e:00:00:01","addresses":[{"family":"inet","address":"10.88.0.5",)" +
         R"("scope":"global"}]}}}})";
}

std::string json(const std::string& status, const std::string& body) {
  return hostler::bench::http_answer(status, "application/json", body);
}

std::string sync(const std::string& metadata) {
  return json("200 OK", R"({"type":"sync","status_code":200,"metadata":)" + metadata + "}");
}

bool begins(const std::string& text, const char* begin) {
  return text.compare(0, std::strlen(begin), begin) == 0;
}

std::string list_of(int instances) {
  std::string all;
  for (int i = 0; i < instances; ++i) all += (i == 0 ? "[" : ",") + instance(i);
  return sync(all + "]");
}

/// Of all but the list.
std::string answer_to(const std::string& head) {
  if (!begins(head, "GET "))
    return json("202 Accepted",
                R"({"type":"async","operation":"/1.0/operations/7","metadata":{}})");
  const std::string path = head.substr(4);
  if (begins(path, "/1.0/instances/"))
    return json("404 Not Found", R"({"type":"error","error":"Not found","error_code":404})");
  if (begins(path, "/1.0/operations/")) return sync(R"({"status_code":200,"err":""})");
  if (begins(path, "/1.0/projects/")) return sync("{}");
  return sync(R"({"auth":"trusted","api_extensions":["instance_get_full","cloud_init"],)"
              R"("environment":{"certificate_fingerprint":"ab12","server_clustered":false}})");
}

}  // namespace

QuickLxd::QuickLxd(int instances)
    : list_(std::make_shared<const std::string>(list_of(instances))),
      server_(QuickServer::On::kUnixSocket, [this](const QuickRequest& request) {
        if (begins(request.head, "GET /1.0/instances?")) return list_;
        return std::make_shared<const std::string>(answer_to(request.head));
      }) {}

}  // namespace hostler::lxd::bench
