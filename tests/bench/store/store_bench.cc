// What the store can do on this machine: store_bench [folder [connection string]]. The folder
// should lie on the disk that the state folder will use; it is made, and removed at the end. With a
// connection string the rows go to that PostgreSQL database, which has to be empty.

#include <time.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "core/store/store.h"

namespace hostler::store {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Of all threads: what a busy machine does not disturb.
double cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

long resident_mib() {
  std::ifstream file("/proc/self/statm");
  long total = 0;
  long resident = 0;
  file >> total >> resident;
  return resident * ::sysconf(_SC_PAGESIZE) / (1 << 20);
}

template <class T>
T must(Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}

/// Commits with at most `in_flight` not yet durable, and waits for all at the end.
class Committer {
 public:
  Committer(Store& store, std::size_t in_flight) : store_(store), in_flight_(in_flight) {}
  ~Committer() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return open_ == 0; });
  }
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  void commit(model::Commit commit) {
    {
      std::unique_lock lock(mutex_);
      done_.wait(lock, [this] { return open_ < in_flight_; });
      ++open_;
    }
    store_.commit(std::move(commit), [this](Result<Committed> result) {
      if (!result) std::exit(1);
      {
        const std::lock_guard lock(mutex_);
        --open_;
      }
      done_.notify_all();
    });
  }

 private:
  Store& store_;
  const std::size_t in_flight_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::size_t open_ = 0;
};

class Bench {
 public:
  Bench(std::filesystem::path folder, std::string postgres)
      : folder_(std::move(folder)), postgres_(std::move(postgres)) {
    std::filesystem::remove_all(folder_);
    open();
  }
  ~Bench() {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  void submit(std::size_t batch, std::size_t jobs, std::size_t in_flight) {
    const auto begin = Clock::now();
    const double cpu = cpu_seconds();
    {
      Committer committer(*store_, in_flight);
      for (std::size_t made = 0; made < jobs; made += batch) {
        model::Commit commit;
        for (std::size_t i = 0; i < batch; ++i) add_submitted(commit);
        commit.last_revision = revision_;
        committer.commit(std::move(commit));
      }
    }
    const double seconds = seconds_since(begin);
    std::printf("submit, %5zu a commit, %4zu under way   %9.0f jobs/s  %5.1f us of CPU each\n",
                batch, in_flight, static_cast<double>(jobs) / seconds,
                (cpu_seconds() - cpu) * 1e6 / static_cast<double>(jobs));
  }

  /// What a short job costs beside its submission: start and end, as the loop commits them.
  void run_jobs(std::size_t jobs, std::size_t per_commit, std::size_t in_flight) {
    const auto first = job_ - jobs + 1;
    const auto begin = Clock::now();
    const double cpu = cpu_seconds();
    {
      Committer committer(*store_, in_flight);
      for (std::uint64_t id = first; id <= job_; id += per_commit) {
        committer.commit(starts(id, per_commit));
        committer.commit(ends(id, per_commit));
      }
    }
    const double seconds = seconds_since(begin);
    std::printf("start and end, %3zu a commit, %4zu under way %7.0f jobs/s  %5.1f us of CPU each\n",
                per_commit, in_flight, static_cast<double>(jobs) / seconds,
                (cpu_seconds() - cpu) * 1e6 / static_cast<double>(jobs));
  }

  void commits_one_by_one(std::size_t count) {
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < count; ++i) {
      Committer committer(*store_, 1);
      model::Commit commit;
      commit.changes.emplace_back(record("cloud", "set local", model::Event::kOpened));
      committer.commit(std::move(commit));
    }
    std::printf("commit and wait, one ledger record   %9.0f /s\n",
                static_cast<double>(count) / seconds_since(begin));
  }

  void add_instances(std::size_t count) {
    Committer committer(*store_, 10);
    model::Commit commit;
    for (std::size_t i = 1; i <= count; ++i) {
      model::InstanceChanged change;
      change.record.id = {i};
      change.record.state = model::InstanceState::kIdle;
      change.record.set = "local";
      change.record.provider_id = "i-" + std::to_string(i);
      change.record.identity.public_key = std::string(80, 'k');
      commit.changes.emplace_back(std::move(change));
    }
    committer.commit(std::move(commit));
  }

  void restart() {
    store_.reset();
    const auto before_mib = resident_mib();
    auto begin = Clock::now();
    open();
    const double opened = seconds_since(begin);
    begin = Clock::now();
    const auto restored = must(store_->load());
    std::printf("restart: open %.0f ms, load of %zu jobs and %zu instances %.0f ms, %+ld MiB\n",
                opened * 1e3, restored.work.size(), restored.instances.size(),
                seconds_since(begin) * 1e3, resident_mib() - before_mib);
  }

 private:
  void open() {
    Options options;
    options.postgres = postgres_;
    store_ = must(Store::open(folder_, std::move(options)));
  }

  model::LedgerRecord record(std::string actor, std::string subject, model::Event event) {
    model::LedgerRecord out;
    out.rev = ++revision_;
    out.time = {1'760'000'000'000'000};
    out.actor = std::move(actor);
    out.subject = std::move(subject);
    out.event = event;
    return out;
  }

  void add_submitted(model::Commit& commit) {
    model::WorkItem job;
    job.record.id = {++job_};
    job.arrival = job_;
    job.shape.needs = {.vcpus = 1, .gpus = 0, .ram = 1 << 30, .scratch = 0};
    job.principal = "user bench";
    job.submitted = {1'760'000'000'000'000};
    job.body = body_;
    commit.changes.emplace_back(std::move(job));
    commit.changes.emplace_back(
        record("user", model::WorkId{job_}.text(), model::Event::kSubmitted));
  }

  model::WorkChanged changed(std::uint64_t id, model::WorkState state) {
    model::WorkChanged job;
    job.record.id = {id};
    job.record.state = state;
    job.record.attempt = 1;
    job.record.instance = {id % 100 + 1};
    return job;
  }

  model::AttemptChanged attempt(std::uint64_t id, model::AttemptState state) {
    model::AttemptChanged out;
    out.attempt = {{id}, 1};
    out.instance = {id % 100 + 1};
    out.boot_id = "0123456789abcdef0123456789abcdef";
    out.sequence = id;
    out.state = state;
    return out;
  }

  model::Commit starts(std::uint64_t first, std::size_t count) {
    model::Commit commit;
    for (std::uint64_t id = first; id < first + count; ++id) {
      commit.changes.emplace_back(changed(id, model::WorkState::kStarting));
      commit.changes.emplace_back(attempt(id, model::AttemptState::kIntended));
      commit.changes.emplace_back(
          record("dispatcher", model::WorkId{id}.text(), model::Event::kStarting));
      commit.bodies_wanted.push_back({id});
    }
    return commit;
  }

  model::Commit ends(std::uint64_t first, std::size_t count) {
    model::Commit commit;
    for (std::uint64_t id = first; id < first + count; ++id) {
      auto done = attempt(id, model::AttemptState::kDone);
      done.end.emplace();
      done.end->stdout_inline = "hello, world\n";
      commit.changes.emplace_back(changed(id, model::WorkState::kSucceeded));
      commit.changes.emplace_back(std::move(done));
      commit.changes.emplace_back(
          record("dispatcher", model::WorkId{id}.text(), model::Event::kSucceeded));
    }
    return commit;
  }

  std::filesystem::path folder_;
  std::string postgres_;
  std::unique_ptr<Store> store_;
  std::uint64_t job_ = 0;
  model::Revision revision_ = 0;
  std::shared_ptr<const std::string> body_ = std::make_shared<const std::string>(
      R"({"command":["/bin/sh","-c","wc -w < input.txt > count"],"needs":{"vcpus":1,"ram":"1GiB"},)"
      R"("env":{"LANG":"C.UTF-8","PATH":"/usr/bin:/bin"},"outputs":["count"],"priority":10})");
};

void run(const std::filesystem::path& folder, const std::string& postgres) {
  Bench bench(folder, postgres);
  bench.commits_one_by_one(500);
  bench.submit(1, 500, 1);
  bench.submit(1, 20'000, 1000);
  bench.submit(100, 100'000, 10);
  bench.submit(10'000, 200'000, 2);
  bench.run_jobs(20'000, 1, 200);
  bench.run_jobs(100'000, 100, 10);
  bench.submit(10'000, 100'000, 2);
  bench.add_instances(10'000);
  bench.restart();
}

}  // namespace
}  // namespace hostler::store

int main(int argc, char** argv) {
  hostler::store::run(argc > 1 ? argv[1] : "/tmp/hostler-store-bench", argc > 2 ? argv[2] : "");
}
