#pragma once

#include <memory>
#include <utility>

namespace hostler {

/// A value that copies share, for what is long and copied often. It never changes. Two are equal if
/// their values are. A T that is empty takes no memory.
template <class T>
class Shared {
 public:
  Shared() = default;
  Shared(T value)  // NOLINT(google-explicit-constructor): it stands for the value.
      : value_(std::make_shared<const T>(std::move(value))) {}

  const T& operator*() const {
    static const T kEmpty{};
    return value_ ? *value_ : kEmpty;
  }
  const T* operator->() const { return &**this; }

  friend bool operator==(const Shared& a, const Shared& b) {
    return a.value_ == b.value_ || *a == *b;
  }

 private:
  std::shared_ptr<const T> value_;
};

}  // namespace hostler
