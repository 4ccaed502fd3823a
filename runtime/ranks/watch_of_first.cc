// The watch of rank 0.
#include <string>

#include "absl/status/status.h"
#include "opsemantics/base/status.h"
#include "runtime/ranks/watch.h"

namespace yuba::runtime {
namespace {

constexpr char kNoThread[] = "the system gives no thread to watch the other ranks; see ulimit -u";

// As the others hear it.
absl::Status Shortened(const absl::Status& reason) {
  WordText text;
  text.Set(reason.message());
  return absl::Status(reason.code(), text.Get());
}

}  // namespace

absl::Status Watch::StartFirst() {
  for (size_t r = 1; r < ranks_.size(); ++r) {
    const int rank = static_cast<int>(r);
    {
      std::lock_guard<std::mutex> lock(mutex_);
      talks_[rank] = true;
    }
    const auto answer = [this, rank] {
      AnswerRank(rank);
      std::lock_guard<std::mutex> lock(mutex_);
      talks_[rank] = false;
      changed_.notify_all();
    };
    if (!Run(answer)) return InternalError(kNoThread);
  }
  if (!Run([this] { JudgeAll(); })) return InternalError(kNoThread);
  return absl::OkStatus();
}

void Watch::AnswerRank(int rank) {
  RankWord word;
  Answer answer;
  const Message receive = {rank, Direction::kReceive, reinterpret_cast<char*>(&word), sizeof word};
  const Message send = {rank, Direction::kSend, reinterpret_cast<char*>(&answer), sizeof answer};
  while (answer.ruling == Ruling::kGoesOn) {
    TransportError error = transport_->Start(Channel::kControl, {receive})->Wait();
    if (!error.ok()) return NoteLost(rank, error);
    answer = AnswerTo(rank, word);
    error = transport_->Start(Channel::kControl, {send})->Wait();
    if (!error.ok()) return NoteLost(rank, error);
  }
  // Its last word is that it has heard; it may have gone since.
  transport_->Start(Channel::kControl, {receive})->Wait();
}

Answer Watch::AnswerTo(int rank, const RankWord& word) {
  std::lock_guard<std::mutex> lock(mutex_);
  Heard& heard = heard_[rank];
  if (word.report != heard.word.report || word.leaving != heard.word.leaving) {
    urgent_ = true;
    changed_.notify_all();
  }
  heard.word = word;
  ++heard.words;
  Answer answer;
  const RankWord own = OwnWord();
  answer.state = own.state;
  answer.leaving = own.leaving;
  if (!ended_.ok()) {
    answer.ruling = Ruling::kEnded;
    answer.code = static_cast<int32_t>(ended_.code());
    answer.fault = fault_;
    answer.text.Set(ended_.message());
  } else if (exit_code_.has_value()) {
    answer.ruling = Ruling::kLeave;
    answer.code = *exit_code_;
  }
  return answer;
}

void Watch::NoteLost(int rank, const TransportError& error) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (stop_) return;
  const bool named = error.peer > 0 && error.peer < static_cast<int>(ranks_.size());
  heard_[rank].lost = error.what;
  heard_[rank].lost_peer = named ? error.peer : rank;
  urgent_ = true;
  changed_.notify_all();
}

void Watch::JudgeAll() {
  Judge judge(ranks_, options_);
  const Describe describe = GuardedDescribe();
  const auto over = [this] { return stop_ || IsOver(); };
  while (const absl::optional<double> passed = Pause(true, over)) {
    std::vector<Heard> heard;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      heard_[0].word = OwnWord();
      heard = heard_;
    }
    const absl::optional<Verdict> verdict = judge.Look(*passed, heard, describe);
    if (verdict.has_value()) {
      return End({Shortened(verdict->reason), verdict->silent, verdict->fault}, false);
    }
    if (AllLeave(heard)) return;
  }
}

// Lets all leave where all have come to their end.
bool Watch::AllLeave(const std::vector<Heard>& heard) {
  int code = 0;
  for (const Heard& one : heard) {
    if (one.word.leaving == 0) return false;
    if (code == 0) code = one.word.exit_code;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (ended_.ok()) exit_code_ = code;
  changed_.notify_all();
  return true;
}

}  // namespace yuba::runtime
