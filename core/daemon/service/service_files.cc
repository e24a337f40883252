#include <utility>

#include "core/api/access.h"
#include "core/daemon/service/service.h"

/// Requests about output, output files and blobs.
namespace hostler::daemon {
namespace {

class StoredBlob final : public api::BlobWriter {
 public:
  StoredBlob(std::unique_ptr<store::BlobUpload> upload, store::Store& store)
      : upload_(std::move(upload)), store_(store) {}
  Result<void> append(std::string_view bytes) override {
    HOSTLER_TRY(store_.check_room());
    auto written = upload_->append(bytes);
    if (!written && written.error().code == Errc::kUnavailable) store_.check_disk();
    return written;
  }
  Result<void> finish() override { return upload_->finish(); }

 private:
  std::unique_ptr<store::BlobUpload> upload_;
  store::Store& store_;
};

}  // namespace

Result<model::WorkItem> DaemonService::job_with_output(const api::Principal& who,
                                                       model::WorkId job) const {
  auto known = HOSTLER_TRY(readable_work(who, job));
  if (api::sight_of(who, known.principal) != api::Sight::kAll)
    return fail(Errc::kForbidden, who.name + " may not see the output of " + job.text());
  HOSTLER_TRY(check_not_discarded(known.record));
  return known;
}

void DaemonService::output(const api::Principal& who, model::WorkId job,
                           const api::OutputQuery& query, api::Answer<api::OutputPart> answer) {
  const auto known = job_with_output(who, job);
  if (!known) return answer(tl::unexpected(known.error()));
  const bool ended = model::is_terminal(known->record.state);
  const std::uint32_t attempt = known->record.attempt;
  if (attempt == 0) {
    api::OutputPart none;
    none.offset = query.offset;
    none.ended = none.complete = ended;
    return answer(std::move(none));
  }
  auto part = uses_.store->read_output(
      {job, attempt},
      query.stream == api::Stream::kStdout ? store::kStdoutStream : store::kStderrStream,
      query.offset_in(attempt), query.max, &known->record);
  if (!part) return answer(tl::unexpected(part.error()));
  // After the attempt's end another attempt may follow, unless the job has ended.
  answer(api::OutputPart{attempt, std::move(part->data), part->offset, part->lost,
                         ended && part->ended, ended && part->complete});
}

void DaemonService::output_files(const api::Principal& who, model::WorkId job,
                                 api::Answer<std::vector<api::OutputFile>> answer) {
  const auto known = job_with_output(who, job);
  if (!known) return answer(tl::unexpected(known.error()));
  auto files = uses_.store->outputs().files({job, known->record.attempt});
  if (!files) return answer(tl::unexpected(files.error()));
  std::vector<api::OutputFile> out;
  for (auto& file : *files)
    if (file.problem.empty()) out.push_back({std::move(file.path), file.size});
  answer(std::move(out));
}

Result<int> DaemonService::open_output_file(const api::Principal& who, model::WorkId job,
                                            const std::string& path, bool partial) {
  const auto known = HOSTLER_TRY(job_with_output(who, job));
  auto file =
      HOSTLER_TRY(uses_.store->outputs().open_file({job, known.record.attempt}, path, partial));
  return file.release();
}

Result<bool> DaemonService::has_blob(const std::string& sha256) {
  return uses_.store->blobs().exists(sha256);
}

Result<std::unique_ptr<api::BlobWriter>> DaemonService::put_blob(const api::Principal& who,
                                                                 const std::string& sha256) {
  if (who.role == api::Role::kRead)
    return fail(Errc::kForbidden, who.name + " may not upload: this needs the role submit");
  HOSTLER_TRY(check_store());
  HOSTLER_TRY(uses_.store->check_room());
  auto upload = HOSTLER_TRY(
      uses_.store->blobs().begin(sha256, {who.name, uses_.quotas->of(who.name).blob_bytes_max}));
  return std::unique_ptr<api::BlobWriter>(
      std::make_unique<StoredBlob>(std::move(upload), *uses_.store));
}

}  // namespace hostler::daemon
