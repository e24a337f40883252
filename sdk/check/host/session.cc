#include "sdk/check/host/session.h"

#include <algorithm>
#include <thread>

#include "core/crypto/random.h"
#include "core/crypto/ssh_keys.h"
#include "core/plugin_host/in_process_set.h"
#include "sdk/check/host/limited_set.h"
#include "sdk/check/host/refusal.h"
#include "sdk/check/host/rule_of_message.h"

namespace hostler::check {
namespace {

using plugin_host::DriverSet;

/// Nobody can log in with it: the private key is not kept.
const std::string& login_key() {
  static const std::string key = crypto::make_ed25519_key("driver-check").public_key;
  return key;
}

/// Of this process. Each has threads of the host.
int open_sessions = 0;

}  // namespace

Session::Session(Context& context, std::shared_ptr<const plugin_host::DriverLibrary> library,
                 const Wrap& wrap)
    : context_(context), library_(std::move(library)), timeout_(context.options.deadline) {
  if (open_sessions++ == 0) hygiene().begin_sets();
  plugin_host::InProcessOptions options;
  options.grace = context.options.patience;
  options.set = "check";
  set_ = keep_rate(make_in_process_set(library_, options), context_);
  if (wrap) set_ = wrap(std::move(set_));
}

Session::~Session() { close(); }

plugin_host::SetConfig Session::config(const std::string& set_id) const {
  plugin_host::SetConfig config;
  config.set_id = set_id;
  config.config_json = context_.settings.config_json;
  config.credentials_json = context_.settings.credentials_json;
  config.shared_tags = shared_tags(context_.settings);
  if (context_.settings.site) config.address = context_.settings.site->set.address;
  return config;
}

bool Session::open_or_skip(const std::string& set_id) {
  const auto opened = open(config(set_id));
  if (opened) return find_image();
  const bool may_fail = !context_.settings.has_cloud;
  if (context_.findings.has_failed()) return false;
  if (may_fail)
    context_.findings.skip_without_cloud("the set does not open: " + opened.error().message);
  else
    context_.findings.fail("config", "set_open",
                           "the set does not open: " + opened.error().message);
  return false;
}

Session::Got<model::SetInfo> Session::open(plugin_host::SetConfig config) {
  auto got = call<model::SetInfo>("set_open", [&](DriverSet& set, Duration timeout, auto done) {
    set.open(config, timeout, std::move(done));
  });
  if (!got) return got;
  info_ = *got;
  is_open_ = true;
  return got;
}

Order Session::order(const std::string& key) const {
  return make_order(context_.settings, info_, image_, login_key(), key);
}

/// As hostlerd finds it.
bool Session::find_image() {
  const auto query = image_query(context_.settings);
  if (!query) return true;
  const auto all =
      call<std::vector<model::Image>>("find", [&](DriverSet& set, Duration timeout, auto done) {
        set.find_images(*query, timeout, std::move(done));
      });
  const auto* const newest = all ? model::newest_of(*query, *all) : nullptr;
  if (newest != nullptr) image_ = newest->id;
  if (newest == nullptr)
    context_.findings.fail("config", "find",
                           "no image was found for " + model::to_string(*query) + ": " +
                               (all ? "the cloud has none that matches" : all.error().message));
  return newest != nullptr;
}

std::string Session::new_key() { return "kit-" + crypto::random_hex(8); }

int Session::machines_max() const {
  const int budget = context_.options.budget, quota = context_.settings.quota;
  return quota > 0 ? std::min(budget, quota) : budget;
}

Session::Got<model::ListedInstance> Session::create(const model::CreateRequest& request) {
  const bool is_new = std::ranges::none_of(
      made_, [&](const auto& one) { return one.second == request.idempotency_key; });
  if (is_new && made_.size() >= static_cast<std::size_t>(machines_max()))
    context_.findings.fail("kit", "create", "the test makes more machines than it may have");
  auto got = create_once(request);
  if (!got && got.error().cls == model::CloudErrorClass::kQuota && await_leaving())
    got = create_once(request);
  return got;
}

void Session::await_room() {
  if (context_.settings.quota > 0) (void)await_leaving();
}

bool Session::await_leaving() {
  constexpr Duration kPoll = std::chrono::milliseconds(500), kMax = std::chrono::minutes(5);
  const auto are_leaving = [&] {
    const auto listed = list();
    return listed && std::ranges::any_of(*listed, [](const model::ListedInstance& one) {
             return one.state == model::CloudState::kTerminating;
           });
  };
  Duration waited{};
  for (; are_leaving(); waited += kPoll) {
    if (context_.stops || waited >= kMax) return false;
    context_.findings.waits(kPoll);
    std::this_thread::sleep_for(kPoll);
  }
  return waited > Duration{};
}

Session::Got<model::ListedInstance> Session::create_once(const model::CreateRequest& request) {
  auto got =
      call<model::ListedInstance>("create", [&](DriverSet& set, Duration timeout, auto done) {
        set.create(request, timeout, {}, std::move(done));
      });
  if (got) made_[got->id] = request.idempotency_key;
  return got;
}

Session::Got<std::vector<model::ListedInstance>> Session::list(model::ListRequest request) {
  return call<std::vector<model::ListedInstance>>("list",
                                                  [&](DriverSet& set, Duration timeout, auto done) {
                                                    set.list(request, timeout, std::move(done));
                                                  });
}

std::vector<model::ListedInstance> Session::of_key(const std::string& key) {
  constexpr int kTriesMax = 3;
  auto listed = list();
  for (int tries = 1; !listed && tries < kTriesMax; ++tries) listed = list();
  if (!listed) {
    if (is_refusal(listed.error().cls))
      report_refusal(context_, "list", listed.error());
    else
      context_.findings.fail("R33", "list", "fails: " + listed.error().message);
    return {};
  }
  std::erase_if(*listed, [&](const model::ListedInstance& one) {
    return one.idempotency_key != key || one.state == model::CloudState::kGone;
  });
  return *std::move(listed);
}

Session::Got<Session::Nothing> Session::destroy(model::DestroyRequest request) {
  auto got = call<Nothing>("destroy", [&](DriverSet& set, Duration timeout, auto done) {
    set.destroy(request, timeout, std::move(done));
  });
  if (got) made_.erase(request.id);
  return got;
}

Session::Got<Session::Nothing> Session::destroy(const std::string& id) {
  return destroy(model::DestroyRequest{.id = id, .expected_set_id = {}, .idempotency_key = {}});
}

Session::Got<Session::Nothing> Session::destroy(const model::ListedInstance& machine) {
  return destroy(model::DestroyRequest{
      .id = machine.id, .expected_set_id = kSetId, .idempotency_key = machine.idempotency_key});
}

Session::Got<Session::Nothing> Session::set_tags(model::SetTagsRequest request) {
  return call<Nothing>("set_tags", [&](DriverSet& set, Duration timeout, auto done) {
    set.set_tags(request, timeout, std::move(done));
  });
}

Session::Got<Session::Nothing> Session::start(const std::string& id) {
  return call<Nothing>("start", [&](DriverSet& set, Duration timeout, auto done) {
    set.start({id, kSetId}, timeout, std::move(done));
  });
}

Session::Got<Session::Nothing> Session::stop(const std::string& id) {
  return call<Nothing>("stop", [&](DriverSet& set, Duration timeout, auto done) {
    set.stop({id, kSetId}, timeout, std::move(done));
  });
}

Duration Session::consistency() const {
  if (context_.settings.consistency) return *context_.settings.consistency;
  return std::max<Duration>(info_.list_consistency, std::chrono::milliseconds(1));
}

void Session::note(const char* name, const std::string& message) {
  if (const auto rule = rule_in(message)) context_.findings.fail(rule->first, name, rule->second);
  note_late_rules(name);
}

/// Rules that were broken when the call was over.
void Session::note_late_rules(const char* name) {
  const auto health = set_->health();
  if (health.broken_rules == std::exchange(broken_rules_, health.broken_rules)) return;
  const auto& last = health.last_broken_rule;
  const auto rule = rule_in(last);
  context_.findings.fail(rule ? rule->first : "R26", name, rule ? rule->second : last);
}

void Session::destroy_made() {
  Relay::get().pretend({});
  set_timeout(context_.options.deadline);
  for (const auto& [id, key] : std::exchange(made_, {})) {
    const auto gone = destroy(id);
    if (!gone && !context_.findings.has_failed())
      context_.findings.warn("", "destroy",
                             "the machine " + id +
                                 " could not be destroyed: " + gone.error().message +
                                 "; delete it by hand, it has the tag hostler-set=driver-check");
  }
}

void Session::close() {
  if (set_ == nullptr) return;
  if (is_open_) {
    destroy_made();
    note_late_rules("set_close");
  }
  const char* const call = is_open_ ? "set_close" : "set_open";
  const bool hangs = set_->health().hung_calls > 0;
  set_.reset();
  --open_sessions;
  Relay& relay = Relay::get();
  if (relay.closes_running() > 0)
    context_.findings.fail("R25", "set_close", "has not returned within 5 s");
  hygiene().check_process(context_.findings, call, relay.is_go());
  if (hangs) return;
  if (relay.closes_running() == 0 && relay.opens() == 0 && open_sessions == 0)
    hygiene().check_closed(context_.findings, relay.is_go());
}

}  // namespace hostler::check
