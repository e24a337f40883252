#include "core/api/access.h"
#include "core/api/feeds.h"
#include "core/api/handlers.h"
#include "core/api/job_codec.h"
#include "core/api/views_json.h"

namespace hostler::api {
namespace {

/// An error names the first input that was not uploaded.
Result<void> check_inputs(Service& service, const model::JobSpec& spec) {
  for (const auto& input : spec.inputs)
    if (!HOSTLER_TRY(service.has_blob(input.sha256)))
      return fail(Errc::kInvalidArgument,
                  "input '" + input.path + "': blob " + input.sha256 + " was not uploaded");
  return {};
}

/// What a job takes in memory, in bytes.
std::uint64_t size_of(const model::WorkItem& job) {
  std::uint64_t out = sizeof(model::WorkItem) + job.body->size() + job.name.size() +
                      job.client_key.size() + job.client_digest.size() +
                      job.shape.constraints.zone.size();
  for (const auto& type : job.shape.constraints.types) out += sizeof(std::string) + type.size();
  return out;
}

/// One job is read at a time: as values of JSON, all of them would take many times their text.
/// `is_trial`: inputs need not be uploaded.
Result<std::vector<model::WorkItem>> read_submit(const Context& context, const Request& request,
                                                 bool is_trial = false) {
  std::vector<model::WorkItem> jobs;
  Result<void> allowed;
  const auto read_one = [&](const json::Field& one) {
    model::JobSpec spec;
    if (!read_job(one, context.limits.job, spec)) return true;  // The next may be wrong, too.
    if (!is_trial) allowed = check_inputs(*context.service, spec);
    if (!allowed) return false;
    jobs.push_back(submitted_job(spec));
    if (request.take_memory && !request.take_memory(size_of(jobs.back())))
      allowed = fail(Errc::kUnavailable, kTooMuchAtOnce);
    return allowed.has_value();
  };
  const auto read = json::read_object(
      request.body, {.bytes_max = context.limits.submit_bytes_max},
      {"jobs", context.limits.submit_jobs_max, kJobJsonBytesMax, read_one}, [&](json::Object& o) {
        o.need("jobs").each(context.limits.submit_jobs_max, [](const json::Field&) {});
      });
  HOSTLER_TRY(std::move(allowed));
  if (!read) return tl::unexpected(read.error());
  if (jobs.empty())
    return tl::unexpected(
        Error{Errc::kInvalidArgument, "jobs: at least one job is needed", "jobs"});
  return jobs;
}

void write_detail(json::Writer& w, const JobDetail& detail, const Principal& who) {
  write_job(w, detail.job, detail.waiting ? &*detail.waiting : nullptr,
            sight_of(who, detail.job.principal), detail.cards);
}

void write_ids(json::Writer& w, const std::vector<model::WorkId>& ids) {
  w.begin_object().key("ids").begin_array();
  for (const auto& id : ids) w.value(id.text());
  w.end_array().end_object();
}

}  // namespace

void post_jobs(const Context& context, Request request, Respond respond) {
  auto jobs = read_submit(context, request);
  if (!jobs) return respond(error_response(jobs.error()));
  request.body = {};
  context.service->submit(request.who, std::move(*jobs),
                          json_answer<std::vector<model::WorkId>>(std::move(respond), write_ids));
}

void post_dry_run(const Context& context, Request request, Respond respond) {
  auto jobs = read_submit(context, request, /*is_trial=*/true);
  if (!jobs) return respond(error_response(jobs.error()));
  request.body = {};
  context.service->dry_run(request.who, std::move(*jobs), text_answer(std::move(respond)));
}

void get_jobs(const Context& context, Request request, Respond respond) {
  const auto filter = read_filter(request);
  if (!filter) return respond(error_response(filter.error()));
  context.service->jobs(
      request.who, *filter,
      json_answer<JobPage>(std::move(respond),
                           [who = request.who](json::Writer& w, const JobPage& page) {
                             w.begin_object().key("jobs").begin_array();
                             for (const auto& one : page.jobs) write_detail(w, one, who);
                             w.end_array();
                             if (page.next) w.member("next", page.next.text());
                             w.end_object();
                           }));
}

void get_job(const Context& context, Request request, Respond respond) {
  const auto id = path_work(request);
  if (!id) return respond(error_response(id.error()));
  context.service->job(
      request.who, *id, true,
      json_answer<JobDetail>(std::move(respond),
                             [who = request.who](json::Writer& w, const JobDetail& detail) {
                               write_detail(w, detail, who);
                             }));
}

void post_release_held(const Context& context, Request request, Respond respond) {
  context.service->release_held(
      request.who, json_answer<std::vector<model::WorkId>>(std::move(respond), write_ids));
}

void post_cancel_held(const Context& context, Request request, Respond respond) {
  context.service->cancel_held(
      request.who, json_answer<std::vector<model::WorkId>>(std::move(respond), write_ids));
}

void get_output(const Context& context, Request request, Respond respond) {
  const auto refuse = [&](const Error& error) { respond(error_response(error)); };
  const auto id = path_work(request);
  if (!id) return refuse(id.error());
  const std::string stream = request.query_or("stream", "stdout");
  if (stream != "stdout" && stream != "stderr")
    return refuse({Errc::kInvalidArgument, "?stream is stdout or stderr"});
  const auto offset = query_number(request, "offset", 0, INT64_MAX);
  if (!offset) return refuse(offset.error());
  const auto max = query_number(request, "max", 65536, 1U << 20U);
  if (!max) return refuse(max.error());
  const auto attempt = query_number(request, "attempt", 0, UINT32_MAX);
  if (!attempt) return refuse(attempt.error());
  OutputQuery query{.stream = stream == "stderr" ? Stream::kStderr : Stream::kStdout,
                    .attempt = static_cast<std::uint32_t>(*attempt),
                    .offset = *offset};
  const auto follow = query_flag(request, "follow", false);
  if (!follow) return refuse(follow.error());
  if (*follow) {  // Pieces of the default size, whatever `max`.
    Response response;
    response.feed = follow_output(*context.service, request.who, *id, query);
    return respond(std::move(response));
  }
  query.max = static_cast<std::size_t>(*max);
  context.service->output(request.who, *id, query,
                          json_answer<OutputPart>(std::move(respond), write_output));
}

void get_files(const Context& context, Request request, Respond respond) {
  const auto id = path_work(request);
  if (!id) return respond(error_response(id.error()));
  context.service->output_files(
      request.who, *id,
      json_answer<std::vector<OutputFile>>(
          std::move(respond), [](json::Writer& w, const std::vector<OutputFile>& files) {
            w.begin_object().key("files").begin_array();
            for (const auto& file : files)
              w.begin_object().member("path", file.path).member("size", file.size).end_object();
            w.end_array().end_object();
          }));
}

void get_file(const Context& context, Request request, Respond respond) {
  const auto id = path_work(request);
  if (!id) return respond(error_response(id.error()));
  std::string path;
  for (std::size_t i = 4; i < request.path.size(); ++i)
    path += (path.empty() ? "" : "/") + request.path[i];
  const auto partial = query_flag(request, "partial", false);
  if (!partial) return respond(error_response(partial.error()));
  auto file = context.service->open_output_file(request.who, *id, path, *partial);
  if (!file) return respond(error_response(file.error()));
  Response response;
  response.file = UniqueFd(*file);
  respond(std::move(response));
}

void delete_outputs(const Context& context, Request request, Respond respond) {
  const auto id = path_work(request);
  if (!id) return respond(error_response(id.error()));
  context.service->remove_outputs(
      request.who, *id,
      json_answer<std::uint64_t>(std::move(respond), [](json::Writer& w, std::uint64_t bytes) {
        w.begin_object().member("bytes", bytes).end_object();
      }));
}

void post_give_up_output(const Context& context, Request request, Respond respond) {
  const auto id = path_work(request);
  if (!id) return respond(error_response(id.error()));
  context.service->give_up_output(request.who, *id, empty_answer(std::move(respond)));
}

void get_blob(const Context& context, Request request, Respond respond) {
  const auto there = context.service->has_blob(request.path[2]);
  if (!there) return respond(error_response(there.error()));
  if (!*there) return respond(error_response({Errc::kNotFound, "no such blob"}));
  Response response;
  response.body = "{}\n";  // Never the content: clients have what they uploaded.
  respond(std::move(response));
}

void put_blob(const Context&, Request, Respond respond) {
  Response response;  // The server has stored the body before it called this.
  response.body = "{}\n";
  respond(std::move(response));
}

}  // namespace hostler::api
