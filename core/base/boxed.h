#pragma once

#include <memory>
#include <utility>

namespace hostler {

/// A value that lives on the heap, copied with its box: for the large alternatives of a variant, so
/// that the others take less room. Empty only after it was moved from.
template <class T>
class Boxed {
 public:
  Boxed(T value)  // NOLINT(google-explicit-constructor): it stands for the value.
      : value_(std::make_unique<T>(std::move(value))) {}
  Boxed(const Boxed& other) : value_(std::make_unique<T>(*other)) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(const Boxed& other) {
    value_ = std::make_unique<T>(*other);
    return *this;
  }
  Boxed& operator=(Boxed&&) noexcept = default;
  ~Boxed() = default;

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  operator const T&() const { return *value_; }  // NOLINT(google-explicit-constructor)

  friend bool operator==(const Boxed& a, const Boxed& b) { return *a == *b; }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace hostler
