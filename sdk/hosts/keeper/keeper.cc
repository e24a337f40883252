#include "sdk/hosts/keeper/keeper.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "sdk/hosts/system/failure.h"

namespace hostler::machines {
namespace {

constexpr std::size_t kClientsMax = 256;

/// Only the end of children is of interest: what ends the keeper ends the process that watches it.
driver::Fd take_child_signal() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int one : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&set, one);
  ::sigprocmask(SIG_SETMASK, &set, nullptr);
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  return driver::Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

driver::Fd listen_on_loopback(std::string& endpoint) {
  driver::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof name;
  auto* address = reinterpret_cast<sockaddr*>(&name);
  if (!fd || ::bind(fd.get(), address, size) != 0 || ::listen(fd.get(), 128) != 0 ||
      ::getsockname(fd.get(), address, &size) != 0)
    fail_errno("listen on 127.0.0.1");
  endpoint = "127.0.0.1:" + std::to_string(ntohs(name.sin_port));
  return fd;
}

}  // namespace

Keeper::Keeper(const KeeperSettings& settings, const Account& account, std::string token,
               driver::Fd life)
    : token_(std::move(token)),
      life_(std::move(life)),
      signals_(take_child_signal()),
      network_(settings.bridge, settings.port),
      fleet_(account, network_, settings.machines_max) {
  listening_ = listen_on_loopback(endpoint_);
}

void Keeper::run() {
  while (!ends_) {
    std::vector<pollfd> polled = {
        {life_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}, {listening_.get(), POLLIN, 0}};
    const std::size_t first_client = polled.size();
    for (const Connection& client : clients_) polled.push_back({client.fd(), client.events(), 0});
    const std::vector<Machine*> machines = fleet_.with_console();
    for (const Machine* machine : machines) polled.push_back({machine->console_fd(), POLLIN, 0});
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;  // interrupted
    if (polled[0].revents != 0) return;
    signalfd_siginfo signal{};
    while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal) {
    }
    // Consoles first: a request may destroy a machine.
    const std::size_t first_console = first_client + clients_.size();
    for (std::size_t i = 0; i < machines.size(); ++i)
      if (polled[first_console + i].revents != 0) machines[i]->read_console();
    fleet_.reap();
    std::vector<Connection> staying;
    for (std::size_t i = 0; i < clients_.size(); ++i)
      if (serve(clients_[i], polled[first_client + i].revents))
        staying.push_back(std::move(clients_[i]));
    clients_ = std::move(staying);
    if (polled[2].revents != 0) accept_client();
  }
}

void Keeper::accept_client() {
  driver::Fd fd(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (fd && clients_.size() < kClientsMax) clients_.emplace_back(std::move(fd));
}

bool Keeper::serve(Connection& client, short events) {
  if (events == 0) return true;
  bool stays = client.exchange(events);
  while (stays) {
    const std::optional<std::string> line = client.next_line();
    if (!line) break;
    client.answer(answer(*line));
    if (line->size() > kLineMax) client.close_soon();
    stays = client.exchange(POLLOUT);
  }
  return stays;
}

std::string Keeper::answer(const std::string& line) {
  try {
    if (line.size() > kLineMax) invalid("the line is longer than 1 MiB");
    return perform(read_request(line, token_));
  } catch (const Failure& failure) {
    return answer_failure(failure.code, failure.what());
  }
}

std::string Keeper::perform(const Request& request) {
  switch (request.operation) {
    case Operation::kInfo:
      return answer_info(fleet_.info());
    case Operation::kCreate:
      return answer_machine(fleet_.create(request.create));
    case Operation::kList:
      return answer_machines(fleet_.list());
    case Operation::kTag:
      return answer_machine(fleet_.tag(request));
    case Operation::kDestroy:
      fleet_.destroy(request.id);
      return answer_ok();
    case Operation::kConsole:
      return answer_console(fleet_.console(request.id));
    case Operation::kEnd:
      ends_ = true;
      return answer_ok();
  }
  throw Failure("internal", "an operation is not handled");
}

}  // namespace hostler::machines
