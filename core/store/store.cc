#include "core/store/store.h"

#include <algorithm>

#include "core/store/binding.h"
#include "core/store/files/folders.h"
#include "core/store/files/segments.h"
#include "core/store/load_backup.h"
#include "core/store/restore.h"
#include "core/store/schema.h"

namespace hostler::store {
namespace {

/// Of these ends nobody knows how much the job had written.
bool hides_output(model::EndReason reason) {
  return reason == model::EndReason::kHostLost || reason == model::EndReason::kSupervisionLost;
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(const std::filesystem::path& folder, Options options) {
  HOSTLER_TRY(make_private_folder(folder));
  auto lock = HOSTLER_TRY(StateLock::take(folder / "lock"));
  const Place place{folder, std::move(options.postgres)};
  std::unique_ptr<Store> store(new Store(place, std::move(lock)));
  HOSTLER_TRY(check_loaded(folder));
  HOSTLER_TRY(store->open_reserve(options));
  HOSTLER_TRY(check_engine(place));
  auto opened = store->open_rows(options.go_on);
  while (!opened && store->reserve_->release()) opened = store->open_rows(options.go_on);
  auto connection = HOSTLER_TRY(std::move(opened));
  auto segments = HOSTLER_TRY(Segments::open(folder / "segments", options.segment_bytes_max,
                                             HOSTLER_TRY(last_segment(*connection))));
  store->blobs_ =
      std::make_unique<Blobs>(HOSTLER_TRY(Blobs::open(folder / "blobs", options.blob_bytes_max)));
  store->outputs_ =
      HOSTLER_TRY(Outputs::open(folder / "spool", options.outputs, store->reserve_.get()));
  store->reads_ = HOSTLER_TRY(Reads::open(place, options.read_connections));
  store->journal_ =
      HOSTLER_TRY(Journal::start(std::move(connection), std::move(segments),
                                 {std::move(options.on_health), std::move(options.on_try),
                                  [raw = store.get()] { return raw->reserve_->release(); }}));
  return store;
}

Store::~Store() = default;

Result<void> Store::open_reserve(Options& options) {
  const std::uint64_t bytes = options.disk_reserve
                                  ? *options.disk_reserve
                                  : HOSTLER_TRY(Reserve::usual_bytes(place_.folder));
  reserve_ = HOSTLER_TRY(Reserve::open(place_.folder / "reserve", bytes,
                                       [this, tell = std::move(options.on_disk)](bool low) {
                                         if (outputs_) outputs_->reserve_changed();
                                         if (tell) tell(low);
                                       }));
  return {};
}

Result<std::unique_ptr<Connection>> Store::open_rows(std::optional<Wall> go_on) {
  auto connection = HOSTLER_TRY(connect(place_, Mode::kWrite));
  HOSTLER_TRY(migrate(*connection));
  known_ = HOSTLER_TRY(Known::open(place_.folder));
  old_state_ = HOSTLER_TRY(known_->why_old(*connection));
  if (old_state_.empty()) doubted_ = HOSTLER_TRY(known_->doubts(*connection));
  if ((!old_state_.empty() || doubted_ || known_->has_later()) && go_on) {
    HOSTLER_TRY(known_->accept(*connection, *go_on));
    HOSTLER_TRY(known_->trust());
    old_state_.clear();
    doubted_.reset();
    goes_on_ = true;
  }
  if (old_state_.empty()) {
    HOSTLER_TRY(begin_epoch(*connection));
    HOSTLER_TRY(known_->begin(*connection));
  }
  HOSTLER_TRY(bind_to_owner(place_, HOSTLER_TRY(owner_of(*connection))));
  return connection;
}

Result<void> Store::trust_state() { return known_->trust(); }

void Store::found_old(const std::string& why, std::uint64_t epoch) {
  {
    const MutexLock lock(old_state_mutex_);
    old_state_ = why;
  }
  known_->note_epoch(epoch);
}

Result<void> Store::check_room() const {
  reserve_->look_at_inodes();
  if (!reserve_->is_low()) return {};
  return tl::unexpected(disk_full());
}

Result<model::Restored> Store::load() {
  auto connection = HOSTLER_TRY(connect(place_, Mode::kRead));
  connection->set_patience(Patience::kLong);
  // A start that takes longer than the timeout would fail each time.
  if (connection->engine() == Engine::kPostgres)
    HOSTLER_TRY(connection->execute("SET statement_timeout = 0"));
  auto out = HOSTLER_TRY(restore(*connection));
  out.goes_on = goes_on_;
  out.doubted = doubted_;
  return out;
}

Result<std::uint64_t> Store::output_bytes_of(const std::string& principal) {
  OutputUse& use = outputs_->use();
  if (!use.is_complete())
    return fail(Errc::kUnavailable, "the kept outputs are still being counted; try again");
  const auto unknown = use.unknown();
  if (!unknown.empty()) use.know(unknown, HOSTLER_TRY(reads_->submitters(unknown)));
  return use.of(principal);
}

Result<OutputPart> Store::read_output(model::AttemptId id, std::uint32_t stream,
                                      std::uint64_t offset, std::size_t max,
                                      const model::WorkRecord* job) const {
  const auto [attempt, place] = HOSTLER_TRY(reads_->attempt(id));
  const auto& end = attempt.end;
  OutputPart part{.data = {}, .offset = offset};
  if (end && end->output_is_inline) {
    const bool is_stdout = stream == kStdoutStream;
    part.end = is_stdout ? place.stdout_length : place.stderr_length;
    part.ended = true;
    part.complete = !hides_output(end->reason);
    if (offset >= part.end) return part;
    const auto length = std::min<std::uint64_t>(max, part.end - offset);
    part.data = HOSTLER_TRY(
        read_segment(place_.folder / "segments", place.segment,
                     place.offset + (is_stdout ? 0 : place.stdout_length) + offset, length));
    if (part.data.size() < length)
      return fail(Errc::kInternal,
                  "segment " + std::to_string(place.segment) +
                      " is shorter than its rows say: it is damaged; restore a backup");
    part.ended = offset + length == part.end;
    part.complete = part.complete && part.ended;
    return part;
  }
  auto stored = HOSTLER_TRY(outputs_->read(id, stream, offset, max));
  part = {.data = std::move(stored.data),
          .offset = stored.offset,
          .lost = stored.lost,
          .end = stored.end};
  // The row was read before the file: if it says done, nothing more was to come.
  const bool job_ended = job != nullptr && model::is_terminal(job->state);
  const bool is_over = job_ended || attempt.state == model::AttemptState::kDone;
  if (!is_over) return part;
  // What the host had not sent before it was lost is missing too.
  const auto produced = !end ? 0 : stream == kStdoutStream ? end->stdout_bytes : end->stderr_bytes;
  // No host will say how an attempt ended that never started. Those are not counted.
  const bool is_whole =
      end ? !hides_output(end->reason) && stored.missing == 0 && produced <= part.end
          : job_ended && job->starts == 0 && part.end == 0;
  if (part.data.empty() && produced > part.offset) {
    part.lost += produced - part.offset;
    part.offset = part.end = produced;
  }
  part.ended = part.offset + part.data.size() >= std::max(part.end, produced);
  part.complete = part.ended && is_whole;
  return part;
}

void Store::tidy(const Keep& keep, Wall now, OnTidied done) {
  if (tidying_->exchange(true)) return;
  Tidy::Places places{.segments = place_.folder / "segments",
                      .outputs = outputs_.get(),
                      .blobs = blobs_.get(),
                      .current_segment = [this] { return journal_->current_segment(); }};
  auto run = std::make_shared<Tidy>(std::move(places), keep, now, std::move(unknown_removals_));
  journal_->add_chore([this, run, done = std::move(done)](Connection& connection) {
    const auto more = run->step(connection);
    if (more && *more) return true;
    unknown_removals_ = run->unknown_removals();
    *tidying_ = false;
    done(run->result(), more ? Result<void>() : tl::unexpected(more.error()));
    return false;
  });
}

}  // namespace hostler::store
