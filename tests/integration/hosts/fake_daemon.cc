#include "tests/integration/hosts/fake_daemon.h"

namespace hostler::test {

BootedHost::BootedHost(const Options& options) : Sshd(options) {
  (void)write_file(dir() / "init", ssh::make_init_script({secret, "", "", ""}), 0600);
  shell("HOSTLER_AGENT_DIR=" + (dir() / "agent").string() + " sh " + (dir() / "init").string());
}

model::HostTarget BootedHost::target(std::uint64_t instance) const {
  model::HostTarget out;
  out.instance = model::InstanceId{instance};
  out.set = "set";
  out.provider_id = "i-1";
  out.address = address();
  out.port = port();
  out.user = user();
  out.pool = "pool";
  out.identity.challenge_secret = secret;
  return out;
}

FakeDaemon::FakeDaemon(const Sshd& sshd) {
  settings.sets["set"].private_keys = {sshd.user_key()};
  settings.agent_program = *read_file(HOSTLER_AGENT_PROGRAM, std::size_t{16} << 20U);
  settings.agent_sha256 = crypto::sha256_hex(settings.agent_program);
  pool.name = "pool";
  pool.rotate_keys = false;
}

void FakeDaemon::open() {
  settings.pools["pool"] = pool;
  hosts_ = std::make_unique<hosts::Hosts>(settings, ports());
}

hosts::HostPorts FakeDaemon::ports() {
  hosts::HostPorts out;
  out.post = [this](model::HostEvent event) {
    const std::lock_guard lock(mutex_);
    if (const auto* ready = std::get_if<model::HostReady>(&event.body))
      resume(event.instance, *ready);
    events_.push_back(std::move(event));
    came_.notify_all();
  };
  out.jump_host_changed = [this](const std::string& set, const std::string& problem) {
    const std::lock_guard lock(mutex_);
    jump_problem_ = set == "set" ? problem : "another set";
    came_.notify_all();
  };
  out.ask_driver = [this](const model::HostTarget&, const std::string&, auto answer) {
    answer(driver_says ? Result<bool>(*driver_says) : fail(Errc::kUnavailable, "cannot say"));
  };
  out.append_output = [this](model::AttemptId attempt, std::uint32_t stream, std::uint64_t offset,
                             const std::string& data, auto durable) {
    append({attempt, stream}, offset, data, std::move(durable));
  };
  out.output_files = [this](model::AttemptId attempt, const auto&, auto durable) {
    {
      const std::lock_guard lock(mutex_);
      listed_.insert(attempt);
    }
    durable(refuse_files ? Result<void>(tl::unexpected(*refuse_files)) : Result<void>());
  };
  out.durable_output = [this](model::AttemptId attempt) {
    return hosts::DurableOutput{output(attempt, agent::kStdout).size(),
                                output(attempt, agent::kStderr).size()};
  };
  out.kept_output = [this](model::AttemptId attempt) { return kept(attempt); };
  out.disk_room = [this] { return hosts::DiskRoom{room, std::uint64_t{1} << 40U}; };
  out.read_blob = [this](const std::string& sha256,
                         std::uint64_t offset) -> Result<hosts::HostPorts::BlobPiece> {
    ++blob_reads;
    const auto found = blobs.find(sha256);
    if (found == blobs.end()) return fail(Errc::kNotFound, "no such blob");
    return hosts::HostPorts::BlobPiece{found->second.substr(offset, agent::kChunkMax),
                                       found->second.size()};
  };
  out.read_job = [](const std::string& body) -> Result<model::JobSpec> {
    if (body == "bad") return fail(Errc::kInvalidArgument, "no job");
    model::JobSpec spec;
    spec.script = body;
    return spec;
  };
  out.count_verification = [](auto, bool) {};
  return out;
}

std::uint64_t FakeDaemon::kept(model::AttemptId attempt) {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& [stream, bytes] : output_)
    if (stream.first == attempt) sum += bytes.size();
  return sum;
}

/// As the loop does.
void FakeDaemon::resume(model::InstanceId instance, const model::HostReady& ready) {
  model::ResumeAttempts command{instance, ready.connection, {}};
  for (const auto& told : ready.attempts)
    if (started_.contains(told.attempt)) command.attempts.push_back(told.attempt);
  send(std::move(command));
}

void FakeDaemon::append(Stream stream, std::uint64_t offset, const std::string& data,
                        std::function<void(Result<std::uint64_t>)> durable) {
  std::unique_lock lock(mutex_);
  std::string& kept = output_[stream];
  if (kept.size() < offset + data.size()) kept.resize(offset + data.size(), '?');
  kept.replace(offset, data.size(), data);
  came_.notify_all();
  const std::uint64_t end = kept.size();
  if (refuse_beyond && end > *refuse_beyond) {
    lock.unlock();
    return durable(fail(Errc::kTooLarge, "too much"));
  }
  if (hold_beyond_ && end > *hold_beyond_) hold_ = true;
  if (hold_) return held_.emplace_back([durable, end] { durable(end); }), void();
  lock.unlock();
  durable(end);
}

void FakeDaemon::await_jump_host(const std::string& problem) {
  std::unique_lock lock(mutex_);
  const auto is_it = [&] {
    return jump_problem_ && (problem.empty() ? jump_problem_->empty()
                                             : jump_problem_->find(problem) != std::string::npos);
  };
  if (!came_.wait_for(lock, std::chrono::seconds(60), is_it))
    throw std::runtime_error("the jump host: " + jump_problem_.value_or("nothing was told"));
}

void FakeDaemon::hold_output(bool hold) {
  std::vector<std::function<void()>> held;
  {
    const std::lock_guard lock(mutex_);
    hold_ = hold;
    hold_beyond_.reset();
    if (!hold) held.swap(held_);
  }
  for (const auto& durable : held) durable();
}

std::string FakeDaemon::output(model::AttemptId attempt, std::uint32_t stream) {
  const std::lock_guard lock(mutex_);
  return output_[{attempt, stream}];
}

void FakeDaemon::await_output(model::AttemptId attempt, std::uint32_t stream, std::size_t size) {
  std::unique_lock lock(mutex_);
  if (!came_.wait_for(lock, std::chrono::seconds(60), [&] {
        return output_[{attempt, stream}].size() >= size;
      }))
    throw std::runtime_error("the output did not come");
}

model::HostReady FakeDaemon::connect(const model::HostTarget& target) {
  instance_ = target.instance;
  send(model::ConnectHost{target});
  ready_ = await<model::HostReady>();
  return ready_;
}

model::StartAttempt FakeDaemon::next_start() {
  model::StartAttempt command;
  command.instance = instance_;
  command.attempt = {model::WorkId{++last_job_}, 1};
  command.boot_id = ready_.boot_id;
  command.connection = ready_.connection;
  command.sequence = sequence_ = std::max(sequence_, ready_.last_sequence) + 1;
  const std::lock_guard lock(mutex_);
  started_.insert(command.attempt);
  return command;
}

model::AttemptId FakeDaemon::start(const std::string& script, std::vector<model::Input> inputs,
                                   std::vector<std::string> outputs) {
  auto spec = std::make_shared<model::JobSpec>();
  spec->script = script;
  spec->inputs = std::move(inputs);
  spec->outputs = std::move(outputs);
  auto command = next_start();
  command.spec = std::move(spec);
  command.cards = cards;
  const auto attempt = command.attempt;
  send(std::move(command));
  return attempt;
}

model::AttemptId FakeDaemon::start_body(const std::string& body) {
  auto command = next_start();
  const auto attempt = command.attempt;
  hosts_->send_start(std::move(command), std::make_shared<const std::string>(body));
  return attempt;
}

}  // namespace hostler::test
