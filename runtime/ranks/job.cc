#include "runtime/ranks/job.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "runtime/ranks/rank_text.h"
#include "runtime/ranks/roll_call.h"
#include "runtime/ranks/watch.h"

namespace yuba::runtime {
absl::StatusOr<std::unique_ptr<Job>> Job::Join(std::unique_ptr<Transport> transport,
                                               RankFacts facts, const JobOptions& options) {
  JobOptions limits = options;
  limits.silence_seconds = std::min(options.silence_seconds, 1e6);
  limits.beat_seconds = std::min(std::max(options.beat_seconds, 0.001), 10.0);
  YUBA_ASSIGN_OR_RETURN(std::vector<RankFacts> ranks,
                        CallRoll(*transport, facts, limits.silence_seconds));
  auto watch = std::make_shared<Watch>(std::move(transport), std::move(ranks), limits);
  std::unique_ptr<Job> job(new Job(std::move(watch)));
  YUBA_RETURN_IF_ERROR(job->watch_->Start());
  return job;
}

Job::Job(std::shared_ptr<Watch> watch)
    : watch_(std::move(watch)),
      rank_(watch_->transport().rank()),
      size_(watch_->transport().size()) {}

Job::~Job() { watch_->Stop(); }

int Job::rank() const { return rank_; }
int Job::size() const { return size_; }
const std::vector<RankFacts>& Job::ranks() const { return watch_->ranks(); }
Transport& Job::transport() { return watch_->transport(); }

int Job::RanksOfThisHost() const {
  const std::vector<RankFacts>& all = ranks();
  return static_cast<int>(std::count_if(all.begin(), all.end(), [&](const RankFacts& other) {
    return other.host == all[rank_].host;
  }));
}

int Job::OwnProcessors() const { return ProcessorsOf(ranks(), rank_); }

// All are started before the first is waited for; each is one of `size_` at most.
absl::Status Job::MoveEach(std::vector<Message> messages) {
  std::vector<std::unique_ptr<Transfer>> transfers;
  absl::Status status = ended();
  if (!status.ok()) return status;
  for (const Message& message : messages) {
    YUBA_CHECK(message.peer >= 0 && message.peer < size_ && message.peer != rank_)
        << "rank " << rank_ << " and rank " << message.peer << " of " << size_;
    if (message.bytes == 0) continue;
    transfers.push_back(transport().Start(Channel::kData, {message}));
  }
  size_t next = 0;
  for (const Message& message : messages) {
    if (message.bytes == 0) continue;
    const TransportError error =
        WaitFor(*transfers[next++]);  // after an error too: it ends the job
    if (!error.ok() && status.ok()) status = EndOf(error);
  }
  return status;
}

// A message with each other rank, whose bytes are `stride` apart, by rank.
std::vector<Message> Job::WithOthers(Direction direction, char* data, int64_t bytes,
                                     int64_t stride) {
  std::vector<Message> messages;
  for (int other = 0; other < size_; ++other) {
    if (other != rank_) messages.push_back({other, direction, data + other * stride, bytes});
  }
  return messages;
}

absl::Status Job::Send(int to, absl::string_view bytes) {
  char* const data = const_cast<char*>(bytes.data());  // only read
  return MoveEach({{to, Direction::kSend, data, static_cast<int64_t>(bytes.size())}});
}

absl::Status Job::Receive(int from, char* data, int64_t bytes) {
  return MoveEach({{from, Direction::kReceive, data, bytes}});
}

absl::StatusOr<std::string> Job::FromFirst(absl::string_view bytes) {
  int64_t size = static_cast<int64_t>(bytes.size());
  char* const size_bytes = reinterpret_cast<char*>(&size);
  if (rank_ == 0) {
    char* const data = const_cast<char*>(bytes.data());  // only read
    YUBA_RETURN_IF_ERROR(MoveEach(WithOthers(Direction::kSend, size_bytes, sizeof size, 0)));
    YUBA_RETURN_IF_ERROR(MoveEach(WithOthers(Direction::kSend, data, size, 0)));
    return std::string(bytes);
  }
  YUBA_RETURN_IF_ERROR(Receive(0, size_bytes, sizeof size));
  std::string received(size, '\0');
  YUBA_RETURN_IF_ERROR(Receive(0, &received[0], size));
  return received;
}

absl::StatusOr<bool> Job::AnyOf(bool here) {
  char any = here ? 1 : 0;
  if (rank_ != 0) {
    YUBA_RETURN_IF_ERROR(Send(0, {&any, 1}));
    YUBA_RETURN_IF_ERROR(Receive(0, &any, 1));
    return any != 0;
  }
  std::string of_others(size_, '\0');
  YUBA_RETURN_IF_ERROR(MoveEach(WithOthers(Direction::kReceive, &of_others[0], 1, 1)));
  if (std::count(of_others.begin(), of_others.end(), '\0') != size_) any = 1;
  YUBA_RETURN_IF_ERROR(MoveEach(WithOthers(Direction::kSend, &any, 1, 0)));
  return any != 0;
}

absl::Status Job::MustAgree(uint64_t value, const std::string& what) {
  std::string problem;
  if (rank_ == 0) {
    std::vector<uint64_t> values(size_, value);
    char* const data = reinterpret_cast<char*>(values.data());
    YUBA_RETURN_IF_ERROR(
        MoveEach(WithOthers(Direction::kReceive, data, sizeof value, sizeof value)));
    for (int other = 1; other < size_ && problem.empty(); ++other) {
      if (values[other] == value) continue;
      problem = absl::StrCat(NameOf(ranks()[other]), " has another ", what, " than ",
                             NameOf(ranks()[0]), "; give all ranks the same");
    }
  } else {
    YUBA_RETURN_IF_ERROR(Send(0, {reinterpret_cast<const char*>(&value), sizeof value}));
  }
  YUBA_ASSIGN_OR_RETURN(problem, FromFirst(problem));
  return problem.empty() ? absl::OkStatus() : UserError(problem);
}

void Job::Enter(int64_t step, int instruction) {
  OwnState& own = watch_->own();
  own.step = step;
  own.instruction = instruction;
  ++own.progress;
}

int64_t Job::steps() const { return watch_->own().step; }
void Job::GotOn() { ++watch_->own().progress; }
void Job::StandsAt(int instruction, int waits_for) {
  if (instruction >= 0) watch_->own().instruction = instruction;
  watch_->own().waits_for = waits_for;
}
TransportError Job::WaitFor(Transfer& transfer) { return watch_->WaitFor(transfer); }
void Job::SetBusy(bool busy) { watch_->own().busy = busy; }
void Job::SetDescribe(std::function<std::string(int)> describe) {
  watch_->SetDescribe(std::move(describe));
}

absl::Status Job::ended() const { return watch_->ended(); }
RankFault Job::fault() const { return watch_->fault(); }
void Job::Fail(const absl::Status& reason) { watch_->Fail(reason); }
absl::Status Job::EndOf(const TransportError& error) { return watch_->EndOf(error); }
absl::Status Job::OnHang(double seconds, std::function<void()> end) {
  return watch_->OnHang(seconds, std::move(end));
}
int Job::Leave(int exit_code) { return watch_->Leave(exit_code); }
bool Job::Closed() const { return watch_->Closed(); }
bool Job::Speaks() const { return watch_->Speaks(); }

}  // namespace yuba::runtime
