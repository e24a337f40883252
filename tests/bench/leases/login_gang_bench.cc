// The daemon's share of granting a gang with a login, beside one without: login_gang_bench [LEASES
// [GANGS]]. The loop's state machine, plans, the texts of the commands for accounts, and a store on
// this disk; the hosts are AnsweringHosts. Not in it: the API, SSH, and what hosts do.

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/crypto/login_keys.h"
#include "core/dispatch/immediate_effects.h"
#include "core/ssh/account.h"
#include "core/store/store.h"
#include "tests/bench/ready_hosts.h"

namespace hostler::dispatch {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr const char* kKey =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKYZJctW0r3Dou37OGB3nkpWOY4vmFzzBK6iteZacP2l";

template <class T>
T must(Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}

double cpu_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// In place of real hosts: each command has ended well as soon as it is sent.
class AnsweringHosts {
 public:
  static model::HostEvent answer(const model::RunCommand& sent) {
    model::CommandEnded end;
    end.number = sent.number;
    end.status = 0;
    return {sent.instance, std::move(end)};
  }
};

/// With the commands that the daemon sends.
Options options() {
  Options out;
  out.accounts.open = [](model::LeaseAccount account, const std::vector<std::string>& keys) {
    account.owner = "us";
    return ssh::open_account(account, must(crypto::parse_login_keys(keys)));
  };
  out.accounts.close = &ssh::close_account;
  out.accounts.notify = &ssh::give_notice;
  return out;
}

/// Ready hosts that a pool lends, and a store of its own.
class Site {
 public:
  Site(std::uint64_t hosts, model::Login login, const std::filesystem::path& folder)
      : login_(login),
        store_(must(store::Store::open(folder, {}))),
        kernel_(policy(hosts, login), numbered_secrets(), options()) {
    model::Restored rows;
    rows.owner = "us";
    rows.epoch = 3;
    for (std::uint64_t h = 1; h <= hosts; ++h) rows.instances.push_back(ready_host(h));
    rows.last_instance = hosts;
    take(kernel_.restore(std::move(rows), now_));
    model::SetInfo info;
    info.list_consistency = 1s;
    come(SetOpened{"west", info});
    come(listed_hosts(hosts, now_.mono));
    for (std::uint64_t h = 1; h <= hosts; ++h)
      for (auto& report : reports_of_ready_host(h)) come(std::move(report));
    turn();
    now_ = {now_.mono + 1s, now_.wall + 1s};  // No plan was made lately.
    turn();
  }

  struct Took {
    double ms, cpu_ms;
  };
  /// From the submit of a gang of all hosts until that each lease is granted is durable.
  Took lend(std::uint32_t count) {
    granted_ = 0;
    SubmitLease wish = gang(count);
    const auto began = Clock::now();
    const double cpu = cpu_ms();
    come(std::move(wish));
    for (int turns = 0; granted_ < count && turns < 100; ++turns) turn();
    if (granted_ < count) {
      std::fprintf(stderr, "%u of %u leases were granted\n", granted_, count);
      std::exit(1);
    }
    return {std::chrono::duration<double, std::milli>(Clock::now() - began).count(),
            cpu_ms() - cpu};
  }

 private:
  static model::SitePolicy policy(std::uint64_t hosts, model::Login login) {
    model::SitePolicy out;
    auto& type = out.types.emplace_back();
    type.name = type.provider_type = "t8";
    type.resources = {.vcpus = 8, .gpus = 0, .ram = 8 * 2048 * kMiB, .scratch = 0};
    type.price_per_hour = {80'000};
    out.sets.emplace_back().name = "west";
    auto& pool = out.pools.emplace_back();
    pool.name = "default";
    pool.sets = {"west"};
    pool.types = {"t8"};
    pool.sizes.min = pool.sizes.max = static_cast<std::int32_t>(hosts);
    pool.idle_timeout = 1h;
    pool.rotate_keys = false;  // They were replaced when the hosts were new.
    pool.leases.emplace().login = login;
    return out;
  }
  [[nodiscard]] SubmitLease gang(std::uint32_t count) const {
    SubmitLease out;
    out.ticket = 1;
    out.principal = "user ann";
    out.work.shape.needs = {.vcpus = 1, .gpus = 0, .ram = kMiB, .scratch = 0};
    out.work.shape.gang = {0, count, false};
    out.work.shape.lasts = out.lease.term = 1h;
    out.work.body = std::make_shared<const std::string>(R"({"for":"1h"})");
    if (login_ != model::Login::kNone) out.lease.ssh_keys = {kKey};
    return out;
  }
  void come(Event event) { events_.push_back(std::move(event)); }
  /// As one turn of the loop: all events that have come, and one commit.
  void turn() {
    Outbox out;
    const auto add = [&out](Outbox more) {
      std::ranges::move(more.changes, std::back_inserter(out.changes));
      std::ranges::move(more.effects, std::back_inserter(out.effects));
    };
    for (auto& event : std::exchange(events_, {})) add(kernel_.apply(std::move(event), now_));
    add(kernel_.tick(now_));
    take(std::move(out));
  }
  void take(Outbox out) {
    for (auto& effect : take_immediate(out))
      if (const auto* plan = std::get_if<MakePlan>(&effect))
        come(PlanMade{plan->number, scheduler::make_plan(*plan->snapshot, *plan->policy)});
    std::uint32_t granted = 0;
    for (const auto& change : out.changes)
      if (const auto* record = std::get_if<model::LedgerRecord>(&change))
        granted += record->event == model::Event::kGranted ? 1 : 0;
    commit(std::move(out.changes));
    granted_ += granted;
    for (const auto& effect : out.effects)
      if (const auto* command = std::get_if<model::HostCommand>(&effect))
        if (const auto* sent = std::get_if<model::RunCommand>(command))
          come(AnsweringHosts::answer(*sent));
  }
  /// Returns once it is durable.
  void commit(std::vector<model::Change> changes) {
    if (changes.empty()) return;
    model::Commit commit;
    commit.last_revision = kernel_.queries().revision();
    commit.changes = std::move(changes);
    std::promise<void> durable;
    store_->commit(std::move(commit), [&durable](const Result<store::Committed>& done) {
      if (!done) std::exit(1);
      durable.set_value();
    });
    durable.get_future().wait();
  }

  const model::Login login_;
  const std::unique_ptr<store::Store> store_;
  Dispatcher kernel_;
  Now now_{Mono(100h), Wall{1'700'000'000'000'000}};
  std::vector<Event> events_;
  std::uint32_t granted_ = 0;
};

/// Each gang on a site of its own: hosts with a login are lent once.
void measure(std::uint32_t leases, int gangs, model::Login login) {
  std::vector<double> ms, cpu;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("login_gang_bench." + std::to_string(::getpid()));
  for (int n = 0; n < gangs; ++n) {
    std::filesystem::remove_all(folder);
    const auto took = Site(leases, login, folder).lend(leases);
    ms.push_back(took.ms);
    cpu.push_back(took.cpu_ms);
  }
  std::filesystem::remove_all(folder);
  std::ranges::sort(ms);
  std::ranges::sort(cpu);
  std::printf(
      "gang of %u, login %-4s: p50 %6.1f ms, the slowest of %d %6.1f ms; CPU p50 %5.1f ms\n",
      leases, login == model::Login::kNone ? "none" : "user", ms[ms.size() / 2], gangs, ms.back(),
      cpu[cpu.size() / 2]);
}

}  // namespace
}  // namespace hostler::dispatch

int main(int argc, char** argv) {
  const auto leases = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 100);
  const int gangs = argc > 2 ? std::atoi(argv[2]) : 20;
  if (leases < 2 || leases > hostler::model::kGangMax || gangs < 1) {
    std::fputs("usage: login_gang_bench [LEASES [GANGS]], 2 to 1000 leases\n", stderr);
    return 2;
  }
  for (const auto login : {hostler::model::Login::kNone, hostler::model::Login::kUser})
    hostler::dispatch::measure(leases, gangs, login);
  return 0;
}
