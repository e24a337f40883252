#include "truth.h"

#include <dlfcn.h>

namespace hostler::liar {
namespace {

/// The op that the real driver is given. The first member, so that its callbacks find the rest.
struct Tapped {
  hostler_op op;
  hostler_op* real;
  const std::function<void(const hostler_rec&)>* on_record;

  Tapped(hostler_op* of, const std::function<void(const hostler_rec&)>& to)
      : op{}, real(of), on_record(&to) {
    op.struct_size = sizeof op;
    op.deadline_mono_ns = of->deadline_mono_ns;
    op.error = of->error;
    op.is_cancelled = [](const hostler_op* its) {
      const Tapped& self = *reinterpret_cast<const Tapped*>(its);
      return self.real->is_cancelled(self.real);
    };
    op.on_cancel = [](hostler_op* its, void (*fn)(void*), void* arg) {
      const Tapped& self = *reinterpret_cast<Tapped*>(its);
      self.real->on_cancel(self.real, fn, arg);
    };
    op.emit = [](hostler_op* its, const hostler_rec* record) -> std::int32_t {
      (*reinterpret_cast<Tapped*>(its)->on_record)(*record);
      return 0;
    };
    op.complete = [](hostler_op*, hostler_status) {};
  }
};

/// Where a call that has no record of its own to show leaves the words of its error.
struct Words {
  hostler_error error{};
  std::string message;

  Words() {
    error.struct_size = sizeof error;
    error.set_text = [](hostler_error* its, std::uint32_t field, const char* s, std::size_t n) {
      if (field == HOSTLER_TEXT_MESSAGE) reinterpret_cast<Words*>(its)->message.assign(s, n);
    };
  }
};

}  // namespace

Truth::Truth(const std::string& library, const hostler_host& host, const hostler_set_config& config,
             hostler_op* op)
    : host_(host) {
  host_.get_extension = [](const hostler_host*, const char*) -> const void* { return nullptr; };
  void* const loaded = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) throw driver::Error(HOSTLER_E_INVALID, ::dlerror());
  const auto entry =
      reinterpret_cast<hostler_driver_entry_1_fn>(::dlsym(loaded, HOSTLER_DRIVER_ENTRY));
  if (entry == nullptr) throw driver::Error(HOSTLER_E_INVALID, library + " is no driver");
  driver_ = entry(&host_);
  Words words;
  const std::function<void(const hostler_rec&)> none = [](const hostler_rec&) {};
  Tapped tapped(op, none);
  tapped.op.error = &words.error;
  const hostler_status status = driver_->set_open(&host_, &config, &tapped.op, &set_);
  if (status != HOSTLER_OK) throw driver::Error(status, words.message);
}

Truth::~Truth() { driver_->set_close(set_); }

hostler_status Truth::call(hostler_op* op,
                           const std::function<hostler_status(hostler_op*)>& function,
                           const std::function<void(const hostler_rec&)>& on_record) const {
  Tapped tapped(op, on_record);
  const hostler_status status = function(&tapped.op);
  if (status == HOSTLER_PENDING)
    throw driver::Error(HOSTLER_E_INTERNAL, "the real driver answers later");
  return status;
}

hostler_status Truth::call(hostler_op* op,
                           const std::function<hostler_status(hostler_op*)>& function,
                           std::vector<Saved>& seen) const {
  return call(op, function, [&seen](const hostler_rec& record) {
    if (record.kind == HOSTLER_REC_INSTANCE)
      seen.emplace_back(reinterpret_cast<const hostler_instance&>(record));
  });
}

}  // namespace hostler::liar
