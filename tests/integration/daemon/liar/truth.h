#pragma once

#include <functional>
#include <hostler/driver.hpp>
#include <string>
#include <vector>

#include "saved.h"

namespace hostler::liar {

/// The instances as they are: a set of the real driver, whose calls are all synchronous.
class Truth {
 public:
  /// `library` is the driver's file, `config` its own. Throws driver::Error.
  Truth(const std::string& library, const hostler_host& host, const hostler_set_config& config,
        hostler_op* op);
  ~Truth();
  Truth(const Truth&) = delete;
  Truth& operator=(const Truth&) = delete;

  const hostler_driver& driver() const { return *driver_; }
  hostler_set* set() const { return set_; }
  /// Its table of an extension; throws UNSUPPORTED if it has none.
  template <class T>
  const T& extension(const char* id) const {
    const void* const found = driver_->get_extension(id);
    if (found == nullptr) throw driver::Error(HOSTLER_E_UNSUPPORTED, std::string("no ") + id);
    return *static_cast<const T*>(found);
  }

  /// Calls a function of the driver with an op whose records go to `on_record` instead of the host.
  /// \return its status; an error of it is in op->error.
  hostler_status call(hostler_op* op, const std::function<hostler_status(hostler_op*)>& function,
                      const std::function<void(const hostler_rec&)>& on_record) const;
  /// The same for calls that emit instances, which it appends to `seen`.
  hostler_status call(hostler_op* op, const std::function<hostler_status(hostler_op*)>& function,
                      std::vector<Saved>& seen) const;

 private:
  /// The liar's host, without the files of its manifest, which are not the real driver's.
  hostler_host host_;
  const hostler_driver* driver_ = nullptr;
  hostler_set* set_ = nullptr;
};

}  // namespace hostler::liar
