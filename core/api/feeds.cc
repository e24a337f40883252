#include "core/api/feeds.h"

#include "core/api/views_json.h"

namespace hostler::api {
namespace {

/// Of one turn: it takes about a millisecond, and its text waits in memory for the client.
constexpr std::size_t kRecordsOfPiece = 100;

using Piece = std::function<void(std::optional<std::string>)>;

std::string as_event(const std::string& data, const std::string& id = {}) {
  return (id.empty() ? std::string() : "id: " + id + "\n") + "data: " + data + "\n\n";
}

/// Only one next() is under way at a time, so the cursors need no lock.
class EventFeed final : public Feed, public std::enable_shared_from_this<EventFeed> {
 public:
  EventFeed(Service& service, Principal who, model::Revision after)
      : service_(service), who_(std::move(who)), after_(after) {}

  void next(Piece piece) override {
    service_.events(who_, after_, kRecordsOfPiece,
                    [self = shared_from_this(),
                     piece = std::move(piece)](Result<std::vector<model::LedgerRecord>> records) {
                      self->answered(std::move(records), piece);
                    });
  }
  std::shared_ptr<void> on_more(std::function<void()> wake) override {
    return service_.on_new_events(std::move(wake));
  }

 private:
  void answered(Result<std::vector<model::LedgerRecord>> records, const Piece& piece) {
    if (!records) return piece(std::nullopt);
    std::string out;
    for (const auto& record : *records) {
      std::string data;
      json::Writer w(data);
      write_ledger(w, record);
      out += as_event(data, std::to_string(record.rev));
      after_ = record.rev;
    }
    piece(std::move(out));
  }

  Service& service_;
  const Principal who_;
  model::Revision after_;
};

class OutputFeed final : public Feed, public std::enable_shared_from_this<OutputFeed> {
 public:
  OutputFeed(Service& service, Principal who, model::WorkId job, const OutputQuery& query)
      : service_(service), who_(std::move(who)), job_(job), query_(query) {}

  void next(Piece piece) override {
    if (ended_) return piece(std::nullopt);
    service_.output(who_, job_, query_,
                    [self = shared_from_this(), piece = std::move(piece)](Result<OutputPart> part) {
                      self->answered(std::move(part), piece);
                    });
  }
  std::shared_ptr<void> on_more(std::function<void()> wake) override {
    return service_.on_new_output(job_, std::move(wake));
  }

 private:
  void answered(Result<OutputPart> part, const Piece& piece) {
    if (!part) {
      ended_ = true;
      return piece(error_event(part.error()));
    }
    if (part->data.empty() && !part->ended) return piece(std::string());
    ended_ = part->ended;
    query_.attempt = part->attempt;
    query_.offset = part->offset + part->data.size();
    std::string data;
    json::Writer w(data);
    write_output(w, *part);
    piece(as_event(data));
  }

  Service& service_;
  const Principal who_;
  const model::WorkId job_;
  OutputQuery query_;  ///< For the next piece.
  bool ended_ = false;
};

class ByteFeed final : public Feed {
 public:
  explicit ByteFeed(std::shared_ptr<ByteSource> source) : source_(std::move(source)) {}

  void next(Piece piece) override {
    auto bytes = source_->next();
    // Without its end, the archive shows that it is not whole.
    if (!bytes || bytes->empty()) return piece(std::nullopt);
    piece(*std::move(bytes));
  }
  std::shared_ptr<void> on_more(std::function<void()>) override { return nullptr; }

 private:
  const std::shared_ptr<ByteSource> source_;
};

}  // namespace

std::string error_event(const Error& error) {
  std::string body = error_response(error).body;
  while (body.ends_with('\n')) body.pop_back();
  return "event: error\n" + as_event(body);
}

std::shared_ptr<Feed> send_bytes(std::shared_ptr<ByteSource> source) {
  return std::make_shared<ByteFeed>(std::move(source));
}

std::shared_ptr<Feed> follow_events(Service& service, const Principal& who, model::Revision after) {
  return std::make_shared<EventFeed>(service, who, after);
}

std::shared_ptr<Feed> follow_output(Service& service, const Principal& who, model::WorkId job,
                                    const OutputQuery& query) {
  return std::make_shared<OutputFeed>(service, who, job, query);
}

}  // namespace hostler::api
