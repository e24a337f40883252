#include "tests/integration/local/driver_host.h"

#include <dlfcn.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "core/crypto/base64.h"

namespace hostler::local::test {
namespace {

template <class T>
T sized() {
  T t{};
  t.struct_size = sizeof(T);
  return t;
}

hostler_str str(const std::string& s) { return {s.c_str(), s.size()}; }
std::string text(const hostler_str& s) { return s.len == 0 ? "" : std::string(s.ptr, s.len); }

void ignore_log(const hostler_host*, const hostler_log_line*) {}
const void* no_extension(const hostler_host*, const char*) { return nullptr; }

const hostler_host& host() {
  static const hostler_host host = [] {
    auto h = sized<hostler_host>();
    h.abi_major = HOSTLER_ABI_MAJOR;
    h.abi_minor = HOSTLER_ABI_MINOR;
    h.abi_draft = HOSTLER_ABI_DRAFT;
    h.name = "local-test";
    h.version = "0";
    h.records_max = 100000;
    h.record_bytes_max = 1 << 20;
    h.log = ignore_log;
    h.get_extension = no_extension;
    return h;
  }();
  return host;
}

Seen copy(const hostler_instance& i) {
  Seen seen;
  seen.id = text(i.id);
  seen.key = text(i.idempotency_key);
  seen.set_id = text(i.set_id);
  seen.owner = text(i.owner);
  seen.zone = text(i.zone);
  seen.user = text(i.remote_user);
  seen.reason = text(i.state_reason);
  if (i.n_addresses > 0) seen.address = text(i.addresses[0].text);
  for (std::size_t k = 0; k < i.n_tags; ++k) seen.tags[text(i.tags[k].key)] = text(i.tags[k].value);
  seen.state = i.state;
  seen.market = i.market;
  seen.port = i.ssh_port;
  seen.price = i.price_micros_per_hour;
  return seen;
}

/// One operation. The ABI's structs come first, so that the callbacks find the rest.
struct Call {
  hostler_op op = sized<hostler_op>();
  struct {
    hostler_error error = sized<hostler_error>();
    Outcome* outcome = nullptr;
  } failure;
  Outcome outcome;
  std::mutex mutex;
  bool cancelled = false;
  void (*on_cancel)(void*) = nullptr;
  void* argument = nullptr;

  explicit Call(int timeout_ms = 60000) {
    using namespace std::chrono;
    op.deadline_mono_ns = static_cast<std::uint64_t>(
        duration_cast<nanoseconds>(steady_clock::now().time_since_epoch() +
                                   milliseconds(timeout_ms))
            .count());
    op.error = &failure.error;
    failure.outcome = &outcome;
    failure.error.retry_after_ms = failure.error.quota_limit = failure.error.quota_used = -1;
    failure.error.set_text = [](hostler_error* e, std::uint32_t field, const char* s,
                                std::size_t n) {
      reinterpret_cast<decltype(Call::failure)*>(e)->outcome->texts[field].assign(s, n);
    };
    op.is_cancelled = [](const hostler_op* o) {
      auto& call = *reinterpret_cast<Call*>(const_cast<hostler_op*>(o));
      const std::lock_guard lock(call.mutex);
      return call.cancelled ? 1 : 0;
    };
    op.on_cancel = [](hostler_op* o, void (*fn)(void*), void* arg) {
      auto& call = *reinterpret_cast<Call*>(o);
      const std::lock_guard lock(call.mutex);
      call.on_cancel = fn;
      call.argument = arg;
      if (call.cancelled && fn != nullptr) fn(arg);
    };
    op.emit = [](hostler_op* o, const hostler_rec* rec) -> std::int32_t {
      Outcome& got = reinterpret_cast<Call*>(o)->outcome;
      if (rec->kind == HOSTLER_REC_INSTANCE)
        got.instances.push_back(copy(*reinterpret_cast<const hostler_instance*>(rec)));
      if (rec->kind == HOSTLER_REC_PRICE)
        got.prices.push_back(*reinterpret_cast<const hostler_price*>(rec));
      if (rec->kind == HOSTLER_REC_SET_INFO) {
        got.capabilities = reinterpret_cast<const hostler_set_info*>(rec)->capabilities;
        got.list_consistency_ms =
            reinterpret_cast<const hostler_set_info*>(rec)->list_consistency_ms;
      }
      return 0;
    };
  }

  Outcome end(hostler_status status) {
    outcome.status = status;
    outcome.message = outcome.texts[HOSTLER_TEXT_MESSAGE];
    outcome.scope = failure.error.scope;
    outcome.flags = failure.error.flags;
    outcome.retry_after_ms = failure.error.retry_after_ms;
    outcome.quota_limit = failure.error.quota_limit;
    outcome.quota_used = failure.error.quota_used;
    return outcome;
  }
};

Outcome open_set(const std::string& set_id, const std::string& config_json, hostler_set** set) {
  auto config = sized<hostler_set_config>();
  config.set_id = str(set_id);
  config.config_json = str(config_json);
  Call call;
  return call.end(DriverHost::table().set_open(&host(), &config, &call.op, set));
}

std::vector<hostler_kv> kvs(const std::map<std::string, std::string>& map) {
  std::vector<hostler_kv> list;
  for (const auto& [key, value] : map) list.push_back({str(key), str(value)});
  return list;
}

std::vector<hostler_str> strs(const std::vector<std::string>& texts) {
  std::vector<hostler_str> list;
  for (const std::string& one : texts) list.push_back(str(one));
  return list;
}

template <class Table>
const Table& extension(const char* id) {
  const void* table = DriverHost::table().get_extension(id);
  if (table == nullptr) throw std::runtime_error(std::string("no extension ") + id);
  return *static_cast<const Table*>(table);
}

}  // namespace

std::string driver_folder() {
  const char* folder = std::getenv("HOSTLER_TEST_DRIVERS");
  return folder != nullptr ? folder : HOSTLER_DRIVERS;
}

const hostler_driver& DriverHost::table() {
  static const hostler_driver* const table = [] {
    // The SDK promises it to drivers: a supervisor may die between their open() and their write().
    ::signal(SIGPIPE, SIG_IGN);
    void* library = ::dlopen((driver_folder() + "/local.hostler.so").c_str(),
                             RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) throw std::runtime_error(::dlerror());
    const auto entry =
        reinterpret_cast<hostler_driver_entry_1_fn>(::dlsym(library, HOSTLER_DRIVER_ENTRY));
    if (entry == nullptr) throw std::runtime_error("no entry");
    return entry(&host());
  }();
  return *table;
}

DriverHost::DriverHost(const std::string& set_id, const std::string& config_json) {
  const Outcome opened = open_set(set_id, config_json, &set_);
  if (opened.status != HOSTLER_OK) throw std::runtime_error(opened.message);
}

DriverHost::~DriverHost() { table().set_close(set_); }

Outcome DriverHost::try_open(const std::string& config_json) {
  hostler_set* set = nullptr;
  Outcome opened = open_set("set", config_json, &set);
  if (opened.status == HOSTLER_OK) table().set_close(set);
  return opened;
}

Outcome DriverHost::info() {
  const auto request = sized<hostler_set_info_req>();
  Call call;
  return call.end(table().set_info(set_, &request, &call.op));
}

Outcome DriverHost::create(const Create& create, const std::function<void(hostler_op*)>& before) {
  auto type = sized<hostler_instance_type>();
  type.name = type.provider_type = str(create.type);
  type.price_micros_per_hour = create.price;
  type.vcpus = 1;
  auto data = sized<hostler_user_data>();
  data.format = create.user_data_format;
  data.bytes = reinterpret_cast<const std::uint8_t*>(create.user_data.data());
  data.n_bytes = create.user_data.size();
  const auto keys = strs(create.login_keys);
  const auto tags = kvs(create.tags);
  auto request = sized<hostler_create_req>();
  request.idempotency_key = str(create.key);
  request.owner = str(create.owner);
  request.type = &type;
  request.zone = str(create.zone);
  if (!create.user_data.empty()) request.user_data = &data;
  request.ssh_host_key_private = str(create.host_key_private);
  request.ssh_host_key_public = str(create.host_key_public);
  request.ssh_public_keys = keys.data();
  request.n_ssh_public_keys = keys.size();
  request.tags = tags.data();
  request.n_tags = tags.size();
  request.price_cap_micros_per_hour = -1;
  request.market = create.market;
  request.tenancy = create.tenancy;
  Call call;
  if (before) before(&call.op);
  return call.end(table().create(set_, &request, &call.op));
}

Outcome DriverHost::list(const std::vector<std::string>& ids,
                         const std::map<std::string, std::string>& tags, int timeout_ms) {
  const auto id_list = strs(ids);
  const auto tag_list = kvs(tags);
  auto request = sized<hostler_list_req>();
  request.ids = id_list.data();
  request.n_ids = id_list.size();
  request.tag_filter = tag_list.data();
  request.n_tag_filter = tag_list.size();
  Call call(timeout_ms);
  return call.end(table().list(set_, &request, &call.op));
}

Outcome DriverHost::destroy(const std::string& id, const std::string& key,
                            const std::string& expected_set, std::uint32_t flags) {
  auto request = sized<hostler_destroy_req>();
  request.id = str(id);
  request.idempotency_key = str(key);
  request.expected_set_id = str(expected_set);
  request.flags = flags;
  Call call;
  return call.end(table().destroy(set_, &request, &call.op));
}

Outcome DriverHost::set_tags(const std::string& id, const std::map<std::string, std::string>& set) {
  const auto set_list = kvs(set);
  auto request = sized<hostler_set_tags_req>();
  request.id = str(id);
  request.set = set_list.data();
  request.n_set = set_list.size();
  Call call;
  return call.end(table().set_tags(set_, &request, &call.op));
}

Outcome DriverHost::verify(const std::string& id, const std::string& public_key_line) {
  const auto space = public_key_line.find(' ');
  const std::string algorithm = public_key_line.substr(0, space);
  std::string encoded = public_key_line.substr(space + 1);
  encoded = encoded.substr(0, encoded.find_first_of(" \n"));
  const std::string blob = crypto::from_base64(encoded).value();
  auto request = sized<hostler_verify_req>();
  request.id = str(id);
  request.key_algo = str(algorithm);
  request.key_blob = reinterpret_cast<const std::uint8_t*>(blob.data());
  request.n_key_blob = blob.size();
  Call call;
  return call.end(
      extension<hostler_ext_host_key>(HOSTLER_EXT_HOST_KEY).verify(set_, &request, &call.op));
}

Outcome DriverHost::prices(const std::string& type_name, std::uint32_t market,
                           std::int64_t since_ns) {
  auto type = sized<hostler_instance_type>();
  type.provider_type = str(type_name);
  type.price_micros_per_hour = -1;
  auto request = sized<hostler_price_req>();
  request.type = &type;
  request.market = market;
  request.since_unix_ns = since_ns;
  Call call;
  return call.end(extension<hostler_ext_price_history>(HOSTLER_EXT_PRICE_HISTORY)
                      .history(set_, &request, &call.op));
}

Outcome DriverHost::start(const std::string& id) {
  auto request = sized<hostler_power_req>();
  request.id = str(id);
  Call call;
  return call.end(extension<hostler_ext_power>(HOSTLER_EXT_POWER).start(set_, &request, &call.op));
}

Outcome DriverHost::stop(const std::string& id) {
  auto request = sized<hostler_power_req>();
  request.id = str(id);
  Call call;
  return call.end(extension<hostler_ext_power>(HOSTLER_EXT_POWER).stop(set_, &request, &call.op));
}

Seen DriverHost::look(const std::string& id) {
  const Outcome listed = list({id});
  if (listed.status != HOSTLER_OK) throw std::runtime_error(listed.message);
  if (!listed.instances.empty()) return listed.instances.front();
  Seen gone;
  gone.state = HOSTLER_STATE_GONE;
  return gone;
}

}  // namespace hostler::local::test
