#include "runtime/ranks/watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/clock.h"
#include "opsemantics/base/start_thread.h"
#include "opsemantics/base/status.h"

namespace yuba::runtime {
namespace {

constexpr int kFailedExit = 3;  // of a job that has ended by a failure

std::chrono::duration<double> Seconds(double seconds) {
  return std::chrono::duration<double>(seconds);
}

// For what should take no time at the end.
double LastSeconds(const JobOptions& options) { return std::min(options.silence_seconds, 3.0); }

}  // namespace

Watch::Watch(std::unique_ptr<Transport> transport, std::vector<RankFacts> ranks,
             const JobOptions& options)
    : transport_(std::move(transport)),
      ranks_(std::move(ranks)),
      rank_(transport_->rank()),
      options_(options),
      heard_(ranks_.size()),
      talks_(ranks_.size(), false) {}

absl::Status Watch::Start() { return IsFirst() ? StartFirst() : StartOther(); }

bool Watch::Run(std::function<void()> run) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ++running_;
  }
  const auto self = shared_from_this();
  const auto ended = [self] {
    std::lock_guard<std::mutex> lock(self->mutex_);
    --self->running_;
    self->changed_.notify_all();
  };
  const bool started = StartThread(threads_, [run = std::move(run), ended] {
    run();
    ended();
  });
  if (!started) ended();
  return started;
}

void Watch::Stop() {
  AwaitTold();
  bool closed = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    closed = closed_;
  }
  changed_.notify_all();
  if (!closed) transport_->Abort(Channel::kControl);
  std::unique_lock<std::mutex> lock(mutex_);
  const bool all_ended =
      changed_.wait_for(lock, Seconds(LastSeconds(options_)), [this] { return running_ == 0; });
  lock.unlock();
  for (std::thread& thread : threads_) {
    if (all_ended) {
      thread.join();
    } else {
      thread.detach();
    }
  }
  threads_.clear();
}

absl::optional<double> Watch::Pause(bool urgent, const std::function<bool()>& over) {
  const double at_most = std::max(2 * options_.beat_seconds,
                                  std::min(options_.silence_seconds, options_.timeout_seconds) / 4);
  const Clock::time_point start = Clock::now();
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, Seconds(options_.beat_seconds),
                    [&] { return over() || (urgent && urgent_); });
  if (urgent) urgent_ = false;
  if (over()) return absl::nullopt;
  return std::min(SecondsSince(start), at_most);
}

TransportError Watch::WaitFor(Transfer& transfer) {
  {
    std::lock_guard<std::mutex> lock(awaited_mutex_);
    awaited_ = &transfer;
  }
  TransportError error = transfer.Wait();
  std::lock_guard<std::mutex> lock(awaited_mutex_);
  awaited_ = nullptr;
  if (error.ok()) {
    ++own_.progress;
  } else {
    stuck_on_ = transfer.WaitsFor();
  }
  return error;
}

RankWord Watch::OwnWord() const {
  RankWord word = report_;
  word.state.step = own_.step;
  word.state.instruction = own_.instruction;
  {
    std::lock_guard<std::mutex> lock(awaited_mutex_);
    word.state.waits_for = awaited_ != nullptr ? awaited_->WaitsFor()
                           : stuck_on_ >= 0    ? stuck_on_
                                               : own_.waits_for.load();
  }
  word.state.progress = own_.progress;
  word.busy = own_.busy ? 1 : 0;
  return word;
}

void Watch::SetDescribe(Describe describe) {
  std::lock_guard<std::mutex> lock(describe_mutex_);
  describe_ = std::move(describe);
}

Describe Watch::GuardedDescribe() {
  return [this](int instruction) {
    std::lock_guard<std::mutex> lock(describe_mutex_);
    return describe_ ? describe_(instruction) : std::string();
  };
}

absl::Status Watch::ended() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return ended_;
}

RankFault Watch::fault() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return fault_;
}

bool Watch::Speaks() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return IsFirst() || is_own_verdict_;
}

bool Watch::Closed() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return closed_;
}

void Watch::End(const Verdict& verdict, bool is_own_verdict) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (IsOver()) return;
    ended_ = verdict.reason;
    fault_ = verdict.fault;
    silent_ = verdict.silent;
    is_own_verdict_ = is_own_verdict;
  }
  changed_.notify_all();
  transport_->Abort(Channel::kData);
}

void Watch::Fail(const absl::Status& reason) {
  YUBA_CHECK(!reason.ok()) << "a rank fails without a reason";
  RankWord word;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    word = OwnWord();
  }
  const std::string place = PlaceOf(word.state, word.leaving != 0, GuardedDescribe());
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (IsOver() || report_.report == Report::kFailed) return;
    report_.report = Report::kFailed;
    report_.status_code = static_cast<int32_t>(reason.code());
    report_.text.Set(absl::StrCat(place, ": ", reason.message()));
    urgent_ = true;
  }
  changed_.notify_all();
}

absl::Status Watch::EndOf(const TransportError& error) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!IsOver() && !error.aborted && report_.report == Report::kNone) {
      report_.report = Report::kNoPeer;
      report_.lost_peer = error.peer;
      report_.text.Set(error.what);
      urgent_ = true;
      changed_.notify_all();
    }
    const double seconds = std::max(1.0, kGraceSeconds + 5 * options_.beat_seconds);
    changed_.wait_for(lock, Seconds(seconds), [this] { return IsOver(); });
    if (!ended_.ok()) return ended_;
  }
  const absl::Status own =
      InternalError(NameOf(ranks_[rank_]), " cannot reach the other ranks: ", error.what);
  End({own, rank_, {rank_, own_.step}}, true);
  const absl::Status reason = ended();  // of another thread, or OK where all have left
  return reason.ok() ? own : reason;
}

absl::Status Watch::OnHang(double seconds, std::function<void()> end) {
  const auto comes = [this] { return stop_ || report_.leaving != 0; };
  const auto limit = [this, seconds, end = std::move(end), comes] {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [&] { return comes() || IsOver(); });
      if (changed_.wait_for(lock, Seconds(seconds), comes)) return;
    }
    end();
  };
  if (Run(limit)) return absl::OkStatus();
  return InternalError("the system gives no thread to limit the end of a run; see ulimit -u");
}

int Watch::Leave(int exit_code) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    report_.leaving = 1;
    report_.exit_code = exit_code;
    urgent_ = true;
    changed_.notify_all();
    // The judge limits it, or how long rank 0 may say nothing.
    changed_.wait(lock, [this] { return IsOver(); });
  }
  AwaitTold();
  std::unique_lock<std::mutex> lock(mutex_);
  if (!ended_.ok()) return kFailedExit;
  const int code = *exit_code_;
  const bool all_ended =
      changed_.wait_for(lock, Seconds(LastSeconds(options_)), [this] { return running_ == 0; });
  lock.unlock();
  if (all_ended) Close();
  return code;
}

// Others hear of the end in the answer to their next word; the rank that is the reason may say
// none.
void Watch::AwaitTold() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!IsFirst() || !IsOver()) return;
  const auto told = [this] {
    for (size_t rank = 0; rank < talks_.size(); ++rank) {
      if (talks_[rank] && static_cast<int>(rank) != silent_) return false;
    }
    return true;
  };
  // After a failure more of them may be lost; where all is well, none is to think that this one is.
  const double seconds = ended_.ok() ? options_.silence_seconds : LastSeconds(options_);
  changed_.wait_for(lock, Seconds(seconds), told);
}

// A transport's goodbye may wait for ranks that have gone since, so it gets a thread and a limit.
void Watch::Close() {
  const auto close = [this] {
    transport_->Close();
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  };
  if (!Run(close)) return;
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, Seconds(options_.silence_seconds), [this] { return closed_; });
}

}  // namespace yuba::runtime
