#include "local_set.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>
#include <system_error>

#include "addresses.h"
#include "create.h"
#include "folder/files.h"
#include "host_key.h"
#include "installation.h"
#include "program.h"
#include "record_lists.h"

namespace hostler::local {
namespace {

using driver::Error;
using driver::str;
using driver::view;

constexpr std::size_t kConsoleMax = std::size_t{192} << 10;  // one record has at most 256 KiB

/// Errors of the machine that may be temporary (no space, no descriptors) can be tried again.
template <class Body>
auto on_this_machine(Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::system_error& wrong) {
    throw Error(HOSTLER_E_TRANSIENT, wrong.what());
  }
}

Tags tags_of(const hostler_kv* tags, std::size_t n) {
  Tags copy;
  for (std::size_t i = 0; i < n; ++i) copy[std::string(view(tags[i].key))] = view(tags[i].value);
  return copy;
}

bool has_all(const Tags& tags, const Tags& wanted) {
  for (const auto& [key, value] : wanted) {
    const auto found = tags.find(key);
    if (found == tags.end() || found->second != value) return false;
  }
  return true;
}

/// Does nothing if the folder is just being removed, by the order of an earlier destroy.
void order_destroy(const InstanceFolder& folder) {
  try {
    if (folder.order().wanted != Wanted::kDestroyed) folder.give_order({Wanted::kDestroyed, false});
  } catch (const std::exception&) {
    if (is_there(folder.record())) throw;
  }
}

}  // namespace

std::int64_t LocalSet::now_ns() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

driver::About LocalSet::about() {
  return {"local",       HOSTLER_LOCAL_VERSION,     "hostler", "Apache-2.0",
          kConfigSchema, HOSTLER_THREAD_CONCURRENT, 16};
}

LocalSet::LocalSet(const hostler_host& host, const hostler_set_config& config, hostler_op* op)
    : host_(host),
      set_id_(view(config.set_id)),
      shared_tags_(tags_of(config.shared_tags, config.n_shared_tags)),
      config_(checked_installation(read_config(std::string(view(config.config_json))), host)),
      account_(Account::own()),
      dials_(config_.dials),
      store_(config_),
      watches_(config_.root + "/interruptions") {
  on_this_machine([&] { prepare_machine(config_, account_, op); });
  driver::log(host_, HOSTLER_LOG_INFO, "the folder of local instances is " + config_.root, op);
}

void LocalSet::info(const hostler_set_info_req&, hostler_op* op) {
  auto info = driver::set_info_record();
  const std::string account = config_.root;
  info.account_id = str(account);
  info.region = str(config_.region);
  info.currency = str(config_.currency);
  info.capabilities = HOSTLER_CAP_CREATE_TOKEN_NATIVE | HOSTLER_CAP_HOST_KEY_INJECT |
                      HOSTLER_CAP_USER_DATA | HOSTLER_CAP_SPOT | HOSTLER_CAP_STOP;
  info.list_consistency_ms = 100;  // it shows at once; 0 would leave it open
  info.user_data_max_bytes = std::uint64_t{64} * 1024;
  info.tags_max = 40;  // the driver adds some of its own
  info.tag_key_max = 128;
  info.tag_value_max = 256;
  info.name_max = 255;
  driver::emit(op, info);
}

void LocalSet::create(const hostler_create_req& request, hostler_op* op) {
  const CreateSpec spec = read_request(request, config_, account_, set_id_, shared_tags_);
  driver::pause(op, std::chrono::milliseconds(config_.dials.create_delay_ms));
  on_this_machine([&] {
    if (answer_known(spec.record, op)) return;
    dials_.on_create(spec.record.provider_type);
    make(spec, op);
  });
  dials_.on_created();
}

/// Answers a request whose idempotency key was used before. False: the key is new.
bool LocalSet::answer_known(const Record& asked, hostler_op* op) {
  if (const auto known = store_.known(asked.id)) {
    if (known->idempotency_key != asked.idempotency_key || known->digest != asked.digest)
      throw Error(HOSTLER_E_CONFLICT, "the idempotency key of " + asked.id +
                                          " was used for a create with other arguments");
    if (const auto found = store_.inspect(asked.id, op)) {
      emit_found(*found, op);
      return true;
    }
  }
  if (!store_.is_gone(asked.id)) return false;
  Found gone{std::make_shared<Record>(asked), {}, {}, {HOSTLER_STATE_GONE, "", Remedy::kNone}};
  emit_found(gone, op);
  return true;
}

void LocalSet::make(const CreateSpec& spec, hostler_op* op) {
  find_zone(spec, config_, store_.records());  // fails early; checked again below, under the lock
  store_.drop_stale_drafts(op);
  Record record = spec.record;
  Draft draft = store_.draft(record.id, op);
  write_files(draft, spec, config_, record, account_, op);
  const InstanceFolder folder = store_.folder(record.id);
  write_file(draft.folder().passwd(), account_.passwd(folder.home()), 0644);
  bool published = false;
  {
    const InstanceStore::RootLock root(store_, op);
    const auto others = store_.records();
    if (!store_.is_gone(record.id) && !store_.known(record.id)) {
      record.zone = find_zone(spec, config_, others);
      std::set<std::string> taken;
      for (const auto& other : others) taken.insert(other->address);
      record.address = free_address(config_.root + record.id, record.port, taken);
      if (record.address.empty())
        throw Error(HOSTLER_E_TRANSIENT, "port " + std::to_string(record.port) +
                                             " is in use on every address of 127.0.0.0/8 that was "
                                             "tried; set another `port` in the driver config");
      record.created_unix_ns = now_ns();
      write_file(draft.folder().record(), record.text());
      write_file(draft.folder().sshd_config(), sshd_config(folder, record));
      published = store_.publish(draft, record.id);
    }
  }
  if (!published) {  // a concurrent retry of the same request was faster
    answer_known(record, op);
    return;
  }
  try {
    // From here on the instance exists, even if this process dies.
    emit_found({std::make_shared<Record>(record),
                spec.tags,
                {},
                {HOSTLER_STATE_PENDING, "", Remedy::kNone}},
               op);
    store_.start(folder, 0, op);
  } catch (const std::exception& wrong) {
    throw Error(op->is_cancelled(op) != 0 ? HOSTLER_E_CANCELLED : HOSTLER_E_TRANSIENT, wrong.what())
        .outcome_unknown();
  }
}

void LocalSet::list(const hostler_list_req& request, hostler_op* op) {
  driver::pause(op, std::chrono::milliseconds(config_.dials.list_delay_ms));
  dials_.on_list();
  on_this_machine([&] {
    store_.drop_stale_drafts(op);
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < request.n_ids; ++i) ids.emplace_back(view(request.ids[i]));
    if (ids.empty()) ids = store_.ids();
    const Tags wanted = tags_of(request.tag_filter, request.n_tag_filter);
    const bool has_notices = config_.dials.interruptions == Dials::Interruptions::kList ||
                             config_.dials.interruptions == Dials::Interruptions::kBoth;
    const Notices notices = has_notices ? read_notices(config_.root + "/interruptions") : Notices();
    for (const std::string& id : ids) {
      driver::check_cancelled(op);
      const auto found = store_.inspect(id, op);
      if (found && has_all(found->tags, wanted)) emit_found(*found, op, notices);
    }
  });
}

void LocalSet::destroy(const hostler_destroy_req& request, hostler_op* op) {
  driver::pause(op, std::chrono::milliseconds(config_.dials.destroy_delay_ms));
  dials_.on_destroy();
  std::string id(view(request.id));
  if (id.empty()) id = id_of_key(std::string(view(request.idempotency_key)));
  on_this_machine([&] {
    if (!is_id(id)) return;  // not an id of this driver: there is no such instance
    const InstanceFolder folder = store_.folder(id);
    const InstanceStore::RootLock root(store_, op);  // excludes a concurrent create
    const auto record = store_.known(id);
    if (record && request.expected_set_id.len != 0 &&
        record->set_id != view(request.expected_set_id))
      throw Error(HOSTLER_E_CONFLICT, id + " belongs to the set " + record->set_id);
    const bool again = store_.is_gone(id);
    store_.remember_gone(id);  // a late create with this key must not create it again
    if (!record) return;
    if (!is_there(folder.record())) {
      if (!again) store_.give_up(id);
      return;
    }
    order_destroy(folder);
    folder.poke();
  });
  // If no supervisor received the order, inspect() does its work.
  on_this_machine([&] { store_.inspect(id, op); });
}

void LocalSet::set_tags(const hostler_set_tags_req& request, hostler_op* op) {
  const std::string id(view(request.id));
  on_this_machine([&] {
    const InstanceStore::RootLock root(store_, op);
    ours(id, {});
    const InstanceFolder folder = store_.folder(id);
    const std::optional<std::string> text = read_file(folder.tags());
    if (!text) throw Error(HOSTLER_E_NOT_FOUND, "no instance " + id);
    const Tags before = parse_tags(*text);
    Tags tags = before;
    for (const auto& [key, value] : tags_of(request.set, request.n_set)) tags[key] = value;
    for (const char* own : {"hostler-set", "hostler-key"}) tags[own] = before.at(own);
    check_tags(tags);
    write_file(folder.tags(), tags_text(tags));
  });
}

void LocalSet::verify(const hostler_verify_req& request, hostler_op*) {
  const auto record = on_this_machine([&] { return ours(std::string(view(request.id)), {}); });
  if (!is_key(record->host_key, view(request.key_algo), request.key_blob, request.n_key_blob))
    throw Error(HOSTLER_E_KEY_MISMATCH,
                "that is not the host key that " + record->id + " was made with");
}

void LocalSet::start(const hostler_power_req& request, hostler_op* op) {
  const std::string id(view(request.id));
  on_this_machine([&] {
    ours(id, request.expected_set_id);
    const InstanceFolder folder = store_.folder(id);
    {
      const InstanceStore::RootLock root(store_, op);
      if (folder.order().wanted == Wanted::kDestroyed)
        throw Error(HOSTLER_E_NOT_FOUND, id + " is being destroyed");
      folder.give_order({Wanted::kRunning, false});
    }
    auto found = store_.inspect(id, op);  // boots it if it is off
    // A failed instance boots only by this call; its last supervisor may just be releasing the
    // lock.
    const auto failed = [&] { return found && found->condition.state == HOSTLER_STATE_FAILED; };
    for (int tries = 0; failed() && tries < 1000; ++tries, found = store_.inspect(id, op)) {
      store_.start(folder, found->state.generation, op);
      driver::pause(op, std::chrono::milliseconds(5));
    }
    if (!found) throw Error(HOSTLER_E_NOT_FOUND, "no instance " + id);
    folder.poke();  // a supervisor that is stopping reads the order again
  });
}

void LocalSet::stop(const hostler_power_req& request, hostler_op* op) {
  const std::string id(view(request.id));
  on_this_machine([&] {
    ours(id, request.expected_set_id);
    const InstanceFolder folder = store_.folder(id);
    const InstanceStore::RootLock root(store_, op);
    if (folder.order().wanted == Wanted::kDestroyed)
      throw Error(HOSTLER_E_NOT_FOUND, id + " is being destroyed");
    folder.give_order({Wanted::kStopped, true});
    folder.poke();
  });
}

/// What the instance's supervisor, its user data and its sshd have written.
void LocalSet::read_console(const hostler_console_req& request, hostler_op* op) {
  driver::require_known(request);
  const std::string id(view(request.id));
  on_this_machine([&] {
    ours(id, str(set_id_));
    const std::size_t most = request.bytes_max != 0 ? request.bytes_max : kConsoleMax;
    const Tail tail = read_tail(store_.folder(id).console(), request.offset,
                                std::min<std::size_t>(most, kConsoleMax));
    if (tail.text.empty()) return;
    auto piece = driver::console_record();
    piece.offset = tail.offset;
    piece.bytes = reinterpret_cast<const std::uint8_t*>(tail.text.data());
    piece.n_bytes = tail.text.size();
    piece.as_of_unix_ns = now_ns();
    driver::emit(op, piece);
  });
}

hostler_status LocalSet::watch(const hostler_interruption_req&, hostler_op* op) {
  if (config_.dials.interruptions != Dials::Interruptions::kWatch &&
      config_.dials.interruptions != Dials::Interruptions::kBoth)
    throw Error(HOSTLER_E_UNSUPPORTED, "nobody takes local instances back");
  watches_.begin(op);
  return HOSTLER_PENDING;
}

/// Throws NOT_FOUND, or CONFLICT if the instance belongs to another set than expected.
std::shared_ptr<const Record> LocalSet::ours(const std::string& id,
                                             const hostler_str& expected_set) {
  auto record = store_.record(id);
  if (!record) throw Error(HOSTLER_E_NOT_FOUND, "no instance " + id);
  if (expected_set.len != 0 && record->set_id != view(expected_set))
    throw Error(HOSTLER_E_CONFLICT, id + " belongs to the set " + record->set_id);
  return record;
}

void LocalSet::emit_found(const Found& found, hostler_op* op, const Notices& notices) {
  const Record& record = *found.record;
  auto out = driver::instance_record();
  out.id = str(record.id);
  out.idempotency_key = str(record.idempotency_key);
  out.set_id = str(record.set_id);
  out.owner = str(record.owner);
  out.remote_user = str(record.account);
  out.zone = str(record.zone);
  out.state_reason = str(found.condition.reason);
  const hostler_address address = {HOSTLER_ADDRESS_PRIVATE, 0, str(record.address)};
  out.addresses = &address;
  out.n_addresses = record.address.empty() ? 0 : 1;
  const auto tags = driver::to_abi(found.tags);
  out.tags = tags.data();
  out.n_tags = tags.size();
  out.created_unix_ns = record.created_unix_ns;
  if (const auto notice = notices.find(record.id); notice != notices.end())
    out.interruption_unix_ns = notice->second.at_unix_ns;
  out.state = found.condition.state;
  out.market = static_cast<std::uint32_t>(record.market);
  out.ssh_port = static_cast<std::uint32_t>(record.port);
  const auto type = config_.types.find(record.provider_type);
  const std::int64_t price = type == config_.types.end()
                                 ? -1
                                 : price_at(type->second.prices, record.zone, out.market, now_ns());
  out.price_micros_per_hour = price >= 0 ? price : record.price_micros_per_hour;
  driver::emit(op, out);
}

}  // namespace hostler::local
