#pragma once

#include <cstddef>

#include "core/model/ids.h"
#include "core/model/job.h"

/// How values of core/model are encoded in frames and in the journal of the agent.
namespace hostler::agent::wire {

inline constexpr std::size_t kEndTextMax = 4096;
inline constexpr std::size_t kEndInlineMax = 4096;

template <class V>
void fields(V& v, typename V::template Ref<model::AttemptId> m) {
  v.number("job", m.work.value);
  v.number("number", m.number);
}

template <class V>
void fields(V& v, typename V::template Ref<model::Input> m) {
  v.text("path", m.path, 4096);
  v.text("sha256", m.sha256, 64);
  v.flag("executable", m.executable);
}

template <class V>
void fields(V& v, typename V::template Ref<model::AttemptEnd> m) {
  v.choice("reason", m.reason, model::EndReason::kCancelled);
  v.number("exit_code", m.exit_code);
  v.number("signal", m.signal);
  v.text("text", m.text, kEndTextMax);
  v.number("stdout_bytes", m.stdout_bytes);
  v.number("stderr_bytes", m.stderr_bytes);
  v.text("stdout_inline", m.stdout_inline, kEndInlineMax);
  v.text("stderr_inline", m.stderr_inline, kEndInlineMax);
  v.flag("output_is_inline", m.output_is_inline);
  v.flag("has_output_files", m.has_output_files);
  v.number("cpu_us", m.cpu_us);
  v.number("ram_peak", m.ram_peak);
  v.flag("limits_enforced", m.limits_enforced);
  v.number("started", m.started.us);
  v.number("ended", m.ended.us);
}

}  // namespace hostler::agent::wire
