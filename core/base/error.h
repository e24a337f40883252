#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

// libexpected-dev 1.0.0 does not mark the class; a redeclaration may, and gcc 12 and clang 14 then
// warn on every dropped result.
namespace tl {
template <class T, class E>
class [[nodiscard]] expected;
}  // namespace tl
#include <tl/expected.hpp>

namespace hostler {

/// What the caller can do about a failure. Add a code only together with the code that reacts to
/// it; everything else is a message on an existing code. What a cloud refuses has its own, richer
/// type: model/cloud.h.
enum class Errc : std::uint8_t {
  kInvalidArgument,  ///< Never retried: a bad request or configuration.   HTTP 400
  kForbidden,        ///< The principal may not do this.                   HTTP 403
  kNotFound,         ///< The thing is gone or never was; forget it.       HTTP 404
  kConflict,         ///< Same key, other content; or a wrong state.       HTTP 409
  kTooLarge,         ///< A limit on what users may send was passed.       HTTP 413
  kUnavailable,      ///< Had no effect; retry with back-off.              HTTP 503
  kOutcomeUnknown,   ///< May have had its effect; observe before retrying.
  kMisbehaving,      ///< A driver or a host broke its contract; the message names the rule.
  kInternal,
};

/// A failure on its way to whoever can react. Cheap to move, printable, comparable by code.
struct Error {
  Errc code;
  std::string message;    ///< For people. Grows outwards: "load driver 'local': open x.so: ...".
  std::string path = {};  ///< Where in a config or request, e.g. "pools[0].max"; empty elsewhere.

  /// Adds what the outer layer was doing, outermost first.
  Error with_context(std::string_view doing) && {
    message.insert(0, std::string(doing) + ": ");
    return std::move(*this);
  }
};

/// The result of anything that can fail for a reason outside this process.
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

/// `auto x = HOSTLER_TRY(f());` - the value of f(), or return its error from the enclosing
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
