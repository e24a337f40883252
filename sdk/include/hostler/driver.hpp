// hostler/driver.hpp - a C++17 layer over driver.h. Compiled into each driver, with hidden
// visibility; nothing in it crosses the ABI. The rules are in driver.h; this header keeps those
// that a machine can keep: no exception leaves, every error has its message, cancel functions are
// removed before what they point to dies, what a request says and this header does not know is
// refused.
//
// A driver is a class T with
//   static hostler::driver::About about();
//   T(const hostler_host&, const hostler_set_config&, hostler_op*);   // set_open; the destructor
//                                                                     // is set_close
//   R info(const hostler_set_info_req&, hostler_op*);
//   R create(const hostler_create_req&, hostler_op*);
//   R list(const hostler_list_req&, hostler_op*);
//   R destroy(const hostler_destroy_req&, hostler_op*);
//   R set_tags(const hostler_set_tags_req&, hostler_op*);
// and, for the extensions it has,
//   R verify(const hostler_verify_req&, hostler_op*);                 // hostler.host-key/1
//   R price_history(const hostler_price_req&, hostler_op*);           // hostler.price-history/1
//   R quota_group(const hostler_quota_group_req&, hostler_op*);       // hostler.quota-group/1
//   R start(const hostler_power_req&, hostler_op*), stop(...);        // hostler.power/1
//   R offerings(const hostler_offerings_req&, hostler_op*);           // hostler.offerings/1
//   hostler_status watch(const hostler_interruption_req&, hostler_op*);  // hostler.interruption/1
//   R read_console(const hostler_console_req&, hostler_op*);          // hostler.console/1
//   R list_leftovers(const hostler_leftover_list_req&, hostler_op*);  // hostler.leftovers/1, with
//   R destroy_leftover(const hostler_leftover_destroy_req&, hostler_op*);
//   R find_images(const hostler_images_req&, hostler_op*);            // hostler.images/1
// and HOSTLER_REGISTER(T) in one source file. R is void (finished when it returns) or
// hostler_status (may be HOSTLER_PENDING). All of them may throw; driver::Error says what went
// wrong.
#ifndef HOSTLER_DRIVER_HPP
#define HOSTLER_DRIVER_HPP

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "hostler/driver.h"

namespace hostler::driver {

/// Borrowed like the hostler_str itself.
inline std::string_view view(const hostler_str& s) noexcept {
  return s.len != 0 ? std::string_view(s.ptr, s.len) : std::string_view();
}
inline hostler_str str(std::string_view s) noexcept { return {s.data(), s.size()}; }

/// A growable struct with its size set and the rest zero.
template <class T>
T sized() noexcept {
  T t{};
  t.struct_size = sizeof(T);
  return t;
}

/// What a driver throws. code is a HOSTLER_E_*; message one line: what failed, and what to do.
/// throw Error(HOSTLER_E_CAPACITY, "no stock").about(HOSTLER_SCOPE_ZONE, "z1").retry_after(30s);
class Error : public std::exception {
 public:
  Error(hostler_status code, std::string message) : code_(code), message_(std::move(message)) {}

  /// Narrows the error to a scope (HOSTLER_SCOPE_*), and names it if it is a group, zone, subnet or
  /// image: of the rest, the host knows the name.
  Error& about(uint32_t scope, std::string name = {}) {
    scope_ |= scope;
    const auto keep = [&](uint32_t bit, std::string& text) {
      if ((scope & bit) != 0) text = name;
    };
    keep(HOSTLER_SCOPE_GROUP, group_);
    keep(HOSTLER_SCOPE_ZONE, zone_);
    keep(HOSTLER_SCOPE_SUBNET, subnet_);
    keep(HOSTLER_SCOPE_IMAGE, image_);
    return *this;
  }
  Error& outcome_unknown() { return flags_ |= HOSTLER_EF_OUTCOME_UNKNOWN, *this; }
  Error& retry_after(std::chrono::milliseconds d) { return retry_after_ms_ = d.count(), *this; }
  Error& quota(int64_t limit, int64_t used) { return limit_ = limit, used_ = used, *this; }
  Error& provider(std::string code, std::string request_id = {}) {
    provider_code_ = std::move(code);
    request_id_ = std::move(request_id);
    return *this;
  }

  const char* what() const noexcept override { return message_.c_str(); }

  /// Writes it to op->error.
  /// \return the status to return or to complete with.
  hostler_status report(hostler_op* op) const noexcept {
    hostler_error* const e = op->error;
    e->scope = scope_;
    e->flags = flags_;
    e->retry_after_ms = retry_after_ms_;
    e->quota_limit = limit_;
    e->quota_used = used_;
    const auto text = [e](uint32_t field, const std::string& s) {
      if (!s.empty()) e->set_text(e, field, s.data(), s.size());
    };
    text(HOSTLER_TEXT_MESSAGE, message_);
    text(HOSTLER_TEXT_PROVIDER_CODE, provider_code_);
    text(HOSTLER_TEXT_REQUEST_ID, request_id_);
    text(HOSTLER_TEXT_SCOPE_GROUP, group_);
    text(HOSTLER_TEXT_SCOPE_ZONE, zone_);
    text(HOSTLER_TEXT_SCOPE_SUBNET, subnet_);
    text(HOSTLER_TEXT_SCOPE_IMAGE, image_);
    return code_ < 0 ? code_ : HOSTLER_E_INTERNAL;
  }

 private:
  hostler_status code_;
  uint32_t scope_ = 0, flags_ = 0;
  int64_t retry_after_ms_ = -1, limit_ = -1, used_ = -1;
  std::string message_, provider_code_, request_id_;
  std::string group_, zone_, subnet_, image_;
};

/// The same for a failure of which nothing is known but a text, so that a request may have left
/// before. Allocates nothing.
inline hostler_status report_internal(hostler_op* op, const char* message) noexcept {
  op->error->flags |= HOSTLER_EF_OUTCOME_UNKNOWN;
  op->error->set_text(op->error, HOSTLER_TEXT_MESSAGE, message, std::strlen(message));
  return HOSTLER_E_INTERNAL;
}

/// The barrier: runs `body`, which may throw, and turns the outcome into a status.
/// \return what body returns, HOSTLER_OK if that is void, a HOSTLER_E_* if it threw.
template <class Body>
hostler_status guard(hostler_op* op, Body&& body) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      return HOSTLER_OK;
    } else {
      return body();
    }
  } catch (const Error& e) {
    return e.report(op);
  } catch (const std::bad_alloc&) {
    return report_internal(op, "out of memory");
  } catch (const std::exception& e) {
    return report_internal(op, e.what()[0] != '\0' ? e.what() : "unnamed exception");
  } catch (...) {
    return report_internal(op, "unknown exception");
  }
}

/// Ends a PENDING operation with the outcome of `body`, from any thread.
template <class Body>
void finish(hostler_op* op, Body&& body) noexcept {
  op->complete(op, guard(op, std::forward<Body>(body)));
}

/// Calls f() once if the operation is cancelled while this object lives. The destructor waits until
/// a running f has returned. f does not block and does not throw.
template <class F>
class OnCancel {
 public:
  OnCancel(hostler_op* op, F f) : op_(op), f_(std::move(f)) { op_->on_cancel(op_, &call, this); }
  ~OnCancel() { op_->on_cancel(op_, nullptr, nullptr); }
  OnCancel(const OnCancel&) = delete;
  OnCancel& operator=(const OnCancel&) = delete;

 private:
  static void call(void* self) noexcept { static_cast<OnCancel*>(self)->f_(); }

  hostler_op* op_;
  F f_;
};

/// Throws CANCELLED if the host no longer wants the result.
inline void check_cancelled(const hostler_op* op) {
  if (op->is_cancelled(op) != 0) throw Error(HOSTLER_E_CANCELLED, "cancelled by the host");
}

/// Sleeps for `d`; throws CANCELLED as soon as the host no longer wants the result, and TIMEOUT at
/// the operation's deadline.
inline void pause(hostler_op* op, std::chrono::milliseconds d) {
  using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC
  const auto wanted = Clock::now() + d;
  const Clock::time_point deadline{
      std::chrono::duration_cast<Clock::duration>(std::chrono::nanoseconds(op->deadline_mono_ns))};
  const bool too_long = op->deadline_mono_ns != 0 && deadline < wanted;
  const auto end = too_long ? deadline : wanted;
  std::mutex mutex;
  std::condition_variable wake;
  bool cancelled = false;
  {
    const OnCancel on_cancel(op, [&] {
      const std::lock_guard<std::mutex> lock(mutex);
      cancelled = true;
      wake.notify_all();
    });
    std::unique_lock<std::mutex> lock(mutex);
    wake.wait_until(lock, end, [&] { return cancelled; });
  }
  if (too_long && !cancelled) throw Error(HOSTLER_E_TIMEOUT, "the deadline of the call has passed");
  check_cancelled(op);
}

/// Law 6: each of these throws UNSUPPORTED if the request says something that this header does not
/// know. HOSTLER_REGISTER's table calls them before the driver's own function.
inline void require_known(const char* what, uint32_t value, uint32_t last) {
  if (value <= last) return;
  throw Error(HOSTLER_E_UNSUPPORTED, std::string(what) + " " + std::to_string(value) +
                                         " is newer than this driver: upgrade the driver");
}
inline void require_known_flags(const char* what, uint32_t flags, uint32_t known) {
  if ((flags & ~known) == 0) return;
  throw Error(HOSTLER_E_UNSUPPORTED, std::string("flags ") + std::to_string(flags & ~known) +
                                         " of " + what + " are newer than this driver: upgrade it");
}
inline void require_known(const hostler_instance_type& t) {
  require_known_flags("a type", t.flags, 0);
  require_known("market", t.market, HOSTLER_MARKET_SPOT);
}
inline void require_known(const hostler_set_config& c) {
  require_known_flags("the set's config", c.flags, 0);
}
inline void require_known(const hostler_set_info_req& r) {
  require_known_flags("set_info", r.flags, 0);
}
inline void require_known(const hostler_create_req& r) {
  require_known_flags("create", r.flags, 0);
  require_known(*r.type);
  require_known("market", r.market, HOSTLER_MARKET_SPOT);
  require_known("tenancy", r.tenancy, HOSTLER_TENANCY_HOST);
  require_known("public_ip", r.public_ip, HOSTLER_PUBLIC_IP_NO);
  if (r.user_data != nullptr) {
    require_known("user data of format", r.user_data->format, HOSTLER_USER_DATA_MIME);
    require_known_flags("user data", r.user_data->flags,
                        HOSTLER_USER_DATA_SECRET | HOSTLER_USER_DATA_GZIP);
  }
  for (size_t i = 0; i < r.n_disks; ++i) {
    require_known("disk of role", r.disks[i]->role, HOSTLER_DISK_SCRATCH);
    require_known_flags("a disk", r.disks[i]->flags, 0);
  }
}
inline void require_known(const hostler_list_req& r) { require_known_flags("list", r.flags, 0); }
inline void require_known(const hostler_destroy_req& r) {
  require_known_flags("destroy", r.flags, 0);
}
inline void require_known(const hostler_set_tags_req& r) {
  require_known_flags("set_tags", r.flags, 0);
}
inline void require_known(const hostler_verify_req& r) {
  require_known_flags("verify", r.flags, 0);
}
inline void require_known(const hostler_price_req& r) {
  require_known_flags("history", r.flags, 0);
  require_known(*r.type);
  require_known("market", r.market, HOSTLER_MARKET_SPOT);
}
inline void require_known(const hostler_quota_group_req& r) {
  require_known_flags("group", r.flags, 0);
  require_known(*r.type);
  require_known("market", r.market, HOSTLER_MARKET_SPOT);
}
inline void require_known(const hostler_power_req& r) {
  require_known_flags("start or stop", r.flags, 0);
}
inline void require_known(const hostler_offerings_req& r) {
  require_known_flags("offerings", r.flags, 0);
  require_known("market", r.market, HOSTLER_MARKET_SPOT);
}
inline void require_known(const hostler_interruption_req& r) {
  require_known_flags("watch", r.flags, 0);
}
inline void require_known(const hostler_console_req& r) {
  require_known_flags("a console's read", r.flags, 0);
}
inline void require_known(const hostler_leftover_list_req& r) {
  require_known_flags("a list of leftovers", r.flags, 0);
}
inline void require_known(const hostler_leftover_destroy_req& r) {
  require_known_flags("the destroy of a leftover", r.flags, 0);
}
inline void require_known(const hostler_images_req& r) {
  require_known_flags("the search for images", r.flags, 0);
}

/// Hands a record to the host; throws CANCELLED if the host wants no more.
inline void emit(hostler_op* op, const hostler_rec* rec) {
  if (op->emit(op, rec) != 0) throw Error(HOSTLER_E_CANCELLED, "stopped by the host");
}
/// Of any record of the header.
template <class Record>
void emit(hostler_op* op, const Record& r) {
  static_assert(offsetof(Record, kind) == offsetof(hostler_rec, kind), "not a record");
  emit(op, reinterpret_cast<const hostler_rec*>(&r));
}

/// Empty records, ready to be filled in and emitted.
template <class Record>
Record record(uint32_t kind) noexcept {
  auto r = sized<Record>();
  r.kind = kind;
  return r;
}
inline hostler_instance instance_record() noexcept {
  auto r = record<hostler_instance>(HOSTLER_REC_INSTANCE);
  r.price_micros_per_hour = -1;
  return r;
}
inline hostler_price price_record() noexcept { return record<hostler_price>(HOSTLER_REC_PRICE); }
inline hostler_set_info set_info_record() noexcept {
  return record<hostler_set_info>(HOSTLER_REC_SET_INFO);
}
inline hostler_quota_group quota_group_record() noexcept {
  return record<hostler_quota_group>(HOSTLER_REC_QUOTA_GROUP);
}
inline hostler_offering offering_record() noexcept {
  auto r = record<hostler_offering>(HOSTLER_REC_OFFERING);
  r.price_micros_per_hour = -1;
  return r;
}
/// hostler_gpu_group::kind of a product, also with its maker: "a100-sxm4-40gb" of "NVIDIA
/// A100-SXM4-40GB". Empty if nothing is left of it.
inline std::string gpu_kind(std::string_view product) {
  std::string out, word;
  const auto end_word = [&] {
    bool is_maker = false;
    for (const char* maker : {"nvidia", "tesla", "geforce", "amd", "ati", "instinct"})
      is_maker = is_maker || word == maker;
    if (!word.empty() && !is_maker) out += (out.empty() ? "" : "-") + word;
    word.clear();
  };
  for (const char c : product) {
    const char low = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if ((low >= 'a' && low <= 'z') || (low >= '0' && low <= '9') || low == '.' || low == '_')
      word += low;
    else
      end_word();
  }
  end_word();
  if (out.size() > 63) out.resize(63);
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out;
}
inline hostler_interruption interruption_record() noexcept {
  return record<hostler_interruption>(HOSTLER_REC_INTERRUPTION);
}
inline hostler_console console_record() noexcept {
  return record<hostler_console>(HOSTLER_REC_CONSOLE);
}
inline hostler_leftover leftover_record() noexcept {
  return record<hostler_leftover>(HOSTLER_REC_LEFTOVER);
}
inline hostler_image image_record() noexcept { return record<hostler_image>(HOSTLER_REC_IMAGE); }

/// Writes a line to the host's log. With the `op` of the call that it is about, the line names call
/// and set.
inline void log(const hostler_host& host, uint32_t level, std::string_view message,
                const hostler_op* op = nullptr) noexcept {
  auto line = sized<hostler_log_line>();
  line.level = level;
  line.op = op;
  line.message = str(message);
  host.log(&host, &line);
}

/// The driver's own files, or null: this host has none to give.
inline const hostler_ext_host_files* host_files(const hostler_host& host) noexcept {
  return static_cast<const hostler_ext_host_files*>(
      host.get_extension(&host, HOSTLER_EXT_HOST_FILES));
}

/// Who the driver is. Every text is a literal: it lives as long as the process.
struct About {
  const char* name;
  const char* version;
  const char* vendor;
  const char* license;
  const char* config_schema_json;
  uint32_t threading;        ///< HOSTLER_THREAD_*
  uint32_t max_concurrency;  ///< Blocking calls at once per set; 1 if serial.
};

namespace detail {

template <class T>
T& self(hostler_set* s) noexcept {
  return *reinterpret_cast<T*>(s);
}

// Has<T, Of>: whether T has the function that Of<T> names.
template <class T, template <class> class Of, class = void>
struct Has : std::false_type {};
template <class T, template <class> class Of>
struct Has<T, Of, std::void_t<Of<T>>> : std::true_type {};
template <class T>
using Verify = decltype(&T::verify);
template <class T>
using PriceHistory = decltype(&T::price_history);
template <class T>
using QuotaGroup = decltype(&T::quota_group);
template <class T>
using Stop = decltype(&T::stop);
template <class T>
using Offerings = decltype(&T::offerings);
template <class T>
using Watch = decltype(&T::watch);
template <class T>
using ReadConsole = decltype(&T::read_console);
template <class T>
using ListLeftovers = decltype(&T::list_leftovers);
template <class T>
using FindImages = decltype(&T::find_images);

// One trampoline per function of the table: the C call, inside the barrier, on the object.
#define HOSTLER_DETAIL_CALL(method, request)                                        \
  [](hostler_set* s, const request* r, hostler_op* op) noexcept -> hostler_status { \
    return guard(op, [&] {                                                          \
      require_known(*r);                                                            \
      return self<T>(s).method(*r, op);                                             \
    });                                                                             \
  }

template <class T>
const void* draft_extension([[maybe_unused]] std::string_view id) noexcept {
  if constexpr (Has<T, Offerings>::value) {
    static const hostler_ext_offerings ext = {
        sizeof ext, 0, HOSTLER_DETAIL_CALL(offerings, hostler_offerings_req)};
    if (id == HOSTLER_EXT_OFFERINGS) return &ext;
  }
  if constexpr (Has<T, Watch>::value) {
    static_assert(std::is_same_v<decltype(std::declval<T&>().watch(
                                     std::declval<const hostler_interruption_req&>(), nullptr)),
                                 hostler_status>,
                  "watch() returns HOSTLER_PENDING: it lasts until it is cancelled");
    static const hostler_ext_interruption ext = {
        sizeof ext, 0, HOSTLER_DETAIL_CALL(watch, hostler_interruption_req)};
    if (id == HOSTLER_EXT_INTERRUPTION) return &ext;
  }
  if constexpr (Has<T, ReadConsole>::value) {
    static const hostler_ext_console ext = {sizeof ext, 0,
                                            HOSTLER_DETAIL_CALL(read_console, hostler_console_req)};
    if (id == HOSTLER_EXT_CONSOLE) return &ext;
  }
  if constexpr (Has<T, ListLeftovers>::value) {
    static const hostler_ext_leftovers ext = {
        sizeof ext, 0, HOSTLER_DETAIL_CALL(list_leftovers, hostler_leftover_list_req),
        HOSTLER_DETAIL_CALL(destroy_leftover, hostler_leftover_destroy_req)};
    if (id == HOSTLER_EXT_LEFTOVERS) return &ext;
  }
  if constexpr (Has<T, FindImages>::value) {
    static const hostler_ext_images ext = {sizeof ext, 0,
                                           HOSTLER_DETAIL_CALL(find_images, hostler_images_req)};
    if (id == HOSTLER_EXT_IMAGES) return &ext;
  }
  return nullptr;
}

template <class T>
const void* extension([[maybe_unused]] std::string_view id) noexcept {
  if constexpr (Has<T, Verify>::value) {
    static const hostler_ext_host_key ext = {sizeof ext, 0,
                                             HOSTLER_DETAIL_CALL(verify, hostler_verify_req)};
    if (id == HOSTLER_EXT_HOST_KEY) return &ext;
  }
  if constexpr (Has<T, PriceHistory>::value) {
    static const hostler_ext_price_history ext = {
        sizeof ext, 0, HOSTLER_DETAIL_CALL(price_history, hostler_price_req)};
    if (id == HOSTLER_EXT_PRICE_HISTORY) return &ext;
  }
  if constexpr (Has<T, QuotaGroup>::value) {
    static const hostler_ext_quota_group ext = {
        sizeof ext, 0, HOSTLER_DETAIL_CALL(quota_group, hostler_quota_group_req)};
    if (id == HOSTLER_EXT_QUOTA_GROUP) return &ext;
  }
  if constexpr (Has<T, Stop>::value) {
    static const hostler_ext_power ext = {sizeof ext, 0,
                                          HOSTLER_DETAIL_CALL(start, hostler_power_req),
                                          HOSTLER_DETAIL_CALL(stop, hostler_power_req)};
    if (id == HOSTLER_EXT_POWER) return &ext;
  }
  return draft_extension<T>(id);
}

/// The driver's table over T.
template <class T>
const hostler_driver* table() noexcept {
  static const About about = T::about();
  static const hostler_driver driver = {
      sizeof(hostler_driver),
      HOSTLER_ABI_MAJOR,
      HOSTLER_ABI_MINOR,
      HOSTLER_ABI_DRAFT,
      0,
      about.threading,
      about.max_concurrency,
      0,
      about.name,
      about.version,
      about.vendor,
      about.license,
      "cpp",
      about.config_schema_json,
      [](const hostler_host* h, const hostler_set_config* c, hostler_op* op,
         hostler_set** out) noexcept -> hostler_status {
        return guard(op, [&] {
          require_known(*c);
          *out = reinterpret_cast<hostler_set*>(std::make_unique<T>(*h, *c, op).release());
        });
      },
      [](hostler_set* s) noexcept { delete &self<T>(s); },
      HOSTLER_DETAIL_CALL(info, hostler_set_info_req),
      HOSTLER_DETAIL_CALL(create, hostler_create_req),
      HOSTLER_DETAIL_CALL(list, hostler_list_req),
      HOSTLER_DETAIL_CALL(destroy, hostler_destroy_req),
      HOSTLER_DETAIL_CALL(set_tags, hostler_set_tags_req),
      [](const char* id) noexcept -> const void* { return extension<T>(id); }};
  return &driver;
}

#undef HOSTLER_DETAIL_CALL

}  // namespace detail
}  // namespace hostler::driver

/// Exports T as this library's driver. Once per driver, at namespace scope outside any namespace.
#define HOSTLER_REGISTER(T)                                                                      \
  extern "C" HOSTLER_EXPORT const hostler_driver* hostler_driver_entry_1(                        \
      const hostler_host* host) {                                                                \
    return host->abi_major == HOSTLER_ABI_MAJOR ? hostler::driver::detail::table<T>() : nullptr; \
  }

#endif
