#include <algorithm>

#include "core/api/handlers.h"
#include "core/base/text.h"

/// The handlers that the routes of jobs and of leases share.
namespace hostler::api {
namespace {

struct KindWords {
  model::WorkKind id;
  const char* what;    ///< The word of messages.
  const char* like;    ///< An id of one.
  const char* states;  ///< The words for its states.
  const char* (*word)(model::WorkState);
};
constexpr KindWords kJobs{
    model::WorkKind::kJob, "job", "j-42",
    "queued, starting, running, collecting, held, succeeded, failed or cancelled",
    [](model::WorkState state) { return model::to_string(state); }};
constexpr KindWords kLeases{model::WorkKind::kLease, "lease", "l-3",
                            "waiting, granting, granted, ending, held or ended",
                            model::lease_state};

/// That the path is about.
const KindWords& kind_of(const Request& request) {
  return request.path[1] == "leases" ? kLeases : kJobs;
}

Result<model::WorkId> read_id(const KindWords& kind, const std::string& text) {
  const auto id = model::WorkId::parse(text);
  if (id && id->kind == kind.id) return *id;
  return fail(Errc::kInvalidArgument, "'" + printable(text, 40) + "' is no " + kind.what +
                                          " id (such as " + kind.like + ")");
}

/// All states that have this word, each once.
Result<void> add_states(const KindWords& kind, std::string_view word,
                        std::vector<model::WorkState>& out) {
  bool known = false;
  for (int n = 0; n <= static_cast<int>(model::WorkState::kHeld); ++n) {
    const auto state = static_cast<model::WorkState>(n);
    if (word != kind.word(state)) continue;
    known = true;
    if (std::ranges::find(out, state) == out.end()) out.push_back(state);
  }
  if (known) return {};
  return fail(Errc::kInvalidArgument, "?state=" + printable(word, 40) + ": " + kind.states);
}

}  // namespace

Result<model::WorkId> path_work(const Request& request) {
  return read_id(kind_of(request), request.path[2]);
}

Result<WorkFilter> read_filter(const Request& request) {
  const KindWords& kind = kind_of(request);
  WorkFilter filter;
  const std::string states = request.query_or("state", "");
  for (const std::string_view word : split(states, ','))
    if (!word.empty()) HOSTLER_TRY(add_states(kind, word, filter.states));
  filter.principal = request.query_or("principal", "");
  filter.name = request.query_or("name", "");
  if (const auto before = request.query.find("before"); before != request.query.end()) {
    auto id = read_id(kind, before->second);
    if (!id)
      return tl::unexpected(
          std::move(id.error()).with_context("?before=" + printable(before->second, 40)));
    filter.before = *id;
  }
  filter.limit = static_cast<std::size_t>(HOSTLER_TRY(query_number(request, "limit", 100, 10'000)));
  return filter;
}

void post_cancel(const Context& context, Request request, Respond respond) {
  const auto id = path_work(request);
  if (!id) return respond(error_response(id.error()));
  context.service->cancel(request.who, *id, empty_answer(std::move(respond)));
}

void post_release(const Context& context, Request request, Respond respond) {
  const auto id = path_work(request);
  if (!id) return respond(error_response(id.error()));
  context.service->release(request.who, *id, empty_answer(std::move(respond)));
}

}  // namespace hostler::api
