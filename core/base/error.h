#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

// libexpected-dev 1.0.0 does not declare the class nodiscard. This redeclaration does, so that gcc
// 12 and clang 14 warn if a result is ignored.
namespace tl {
template <class T, class E>
class [[nodiscard]] expected;
}  // namespace tl
#include <tl/expected.hpp>

namespace hostler {

/// Classes of errors by the reaction of the caller. Add a class only if some code reacts to it; for
/// everything else use a message with an existing class. Errors of clouds have a type of their own:
/// see model/cloud.h.
enum class Errc : std::uint8_t {
  kInvalidArgument,  ///< Never retried: a bad request or configuration.   HTTP 400
  kForbidden,        ///< The principal may not do this.                   HTTP 403
  kNotFound,         ///< The object does not exist (any more).            HTTP 404
  kConflict,         ///< Same key, other content; or a wrong state.       HTTP 409
  kTooLarge,         ///< The request exceeds a limit.                     HTTP 413
  kOverQuota,        ///< The principal has too much at present.           HTTP 429
  kUnavailable,      ///< Had no effect; retry with back-off.              HTTP 503
  kOutcomeUnknown,   ///< It may have had an effect; observe before retrying.
  kMisbehaving,      ///< A driver or host violated its contract; the message names the rule.
  kInternal,
};

/// An error: a class for programs and a message for people. Cheap to move.
struct Error {
  Errc code;
  std::string message;             ///< Outer context first: "load driver 'local': open x.so: ...".
  std::string path = {};           ///< Key in a config or request, e.g. "pools[0].max"; else empty.
  std::int64_t retry_after_s = 0;  ///< kOverQuota: time alone helps, after so many seconds; 0: not.

  /// Puts the operation of the calling layer in front of the message.
  Error with_context(std::string_view doing) && {
    message.insert(0, std::string(doing) + ": ");
    return std::move(*this);
  }
};

/// The result of an operation that can fail for a reason outside this process.
template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(Errc code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

inline std::string_view to_string(Errc code) {
  switch (code) {
    case Errc::kInvalidArgument:
      return "invalid_argument";
    case Errc::kForbidden:
      return "forbidden";
    case Errc::kNotFound:
      return "not_found";
    case Errc::kConflict:
      return "conflict";
    case Errc::kTooLarge:
      return "too_large";
    case Errc::kOverQuota:
      return "over_quota";
    case Errc::kUnavailable:
      return "unavailable";
    case Errc::kOutcomeUnknown:
      return "outcome_unknown";
    case Errc::kMisbehaving:
      return "misbehaving";
    case Errc::kInternal:
      return "internal";
  }  // no default: the compiler names the missing case
  return "?";
}

namespace detail {
template <class T>
T take(Result<T>&& result) {
  return *std::move(result);
}
inline void take(Result<void>&&) {}
}  // namespace detail

}  // namespace hostler

/// `auto x = HOSTLER_TRY(f());` takes the value of f(), or returns its error from the enclosing
/// function. `HOSTLER_TRY(g());` for Result<void>. A GNU statement expression: gcc and clang only.
#define HOSTLER_TRY(expr) HOSTLER_TRY_IMPL(expr, HOSTLER_TRY_NAME(__COUNTER__))
#define HOSTLER_TRY_NAME(n) HOSTLER_TRY_NAME_IMPL(n)
#define HOSTLER_TRY_NAME_IMPL(n) hostler_try_##n
#define HOSTLER_TRY_IMPL(expr, name)                           \
  __extension__({                                              \
    auto name = (expr);                                        \
    if (!name) return tl::unexpected(std::move(name).error()); \
    ::hostler::detail::take(std::move(name));                  \
  })
