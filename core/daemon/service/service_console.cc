#include <utility>

#include "core/base/text.h"
#include "core/daemon/service/service.h"

/// The request for the console of an instance.
namespace hostler::daemon {
namespace {

constexpr std::uint64_t kConsoleMax = std::uint64_t{64} << 10;
constexpr std::size_t kLineMax = 4096;

/// The bytes are the machine's: whoever runs on it has written them.
std::string printable_lines(std::string_view bytes) {
  std::string out;
  for (std::string_view line : split(bytes, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    out += printable(line, kLineMax) + "\n";
  }
  if (!out.empty()) out.pop_back();  // what follows the last end of line
  return out;
}

model::ConsoleView view_of(model::ConsoleText text) {
  model::ConsoleView view;
  view.cut = text.offset > 0 || text.bytes.size() > kConsoleMax;
  std::string_view end = text.bytes;
  if (end.size() > kConsoleMax) end.remove_prefix(end.size() - kConsoleMax);
  view.text = printable_lines(end);
  if (text.as_of.us != 0) view.as_of = text.as_of;
  return view;
}

Error error_of(model::InstanceId instance, const model::CloudError& error) {
  using model::CloudErrorClass;
  const std::string text = "the console of " + instance.text() + ": " + error.message;
  switch (error.cls) {
    case CloudErrorClass::kUnsupported:
      return {Errc::kConflict, text};
    case CloudErrorClass::kNotFound:
      return {Errc::kNotFound, text};
    default:
      return {Errc::kUnavailable, text};
  }
}

}  // namespace

void DaemonService::console(const api::Principal& /*who*/, model::InstanceId instance,
                            api::Answer<model::ConsoleView> answer) {
  uses_.loop->query([this, instance, answer = std::move(answer)](const dispatch::Queries& state,
                                                                 Now now) mutable {
    const auto view = state.instance(instance, now);
    if (!view)
      return answer(fail(Errc::kNotFound, "no instance " + instance.text() +
                                              "; what has ended has no console any more"));
    if (view->record.provider_id.empty())
      return answer(fail(Errc::kConflict, instance.text() + " is being created: its cloud has not "
                                                            "named it yet"));
    uses_.read_console(view->record.set, {.id = view->record.provider_id, .bytes_max = kConsoleMax},
                       [instance, answer](model::CloudResult<model::ConsoleText> text) {
                         if (!text) return answer(tl::unexpected(error_of(instance, text.error())));
                         answer(view_of(*std::move(text)));
                       });
  });
}

}  // namespace hostler::daemon
