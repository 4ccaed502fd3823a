// The watch of a rank other than 0.
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "runtime/ranks/watch.h"

namespace yuba::runtime {

absl::Status Watch::StartOther() {
  const auto tell = [this] {
    TellFirst();
    std::lock_guard<std::mutex> lock(mutex_);
    talked_ = true;
    changed_.notify_all();
  };
  if (Run(tell) && Run([this] { WatchFirst(); })) return absl::OkStatus();
  return InternalError("the system gives no thread to watch rank 0; see ulimit -u");
}

void Watch::TellFirst() {
  RankWord word;
  Answer answer;
  const std::vector<Message> messages = {
      {0, Direction::kSend, reinterpret_cast<char*>(&word), sizeof word},
      {0, Direction::kReceive, reinterpret_cast<char*>(&answer), sizeof answer}};
  do {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      word = OwnWord();
    }
    const TransportError error = transport_->Start(Channel::kControl, messages)->Wait();
    if (!error.ok()) return LoseFirst(error.what);
    if (!Take(answer)) {
      // Rank 0 waits for a last word before it goes.
      transport_->Start(Channel::kControl, {messages[0]})->Wait();
      return;
    }
  } while (Pause(true, [this] { return stop_; }).has_value());
}

// Whether more words are to be sent.
bool Watch::Take(const Answer& answer) {
  if (answer.ruling == Ruling::kEnded) {
    const auto code = static_cast<absl::StatusCode>(answer.code);
    End({absl::Status(code, answer.text.Get()), -1, answer.fault}, false);
    return false;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  answer_ = answer;
  ++answers_;
  if (answer.ruling == Ruling::kGoesOn) return true;
  if (ended_.ok()) exit_code_ = answer.code;
  changed_.notify_all();
  return false;
}

void Watch::WatchFirst() {
  int64_t seen = 0;
  double silent = 0;
  const auto over = [this] { return stop_ || talked_; };
  while (const absl::optional<double> passed = Pause(false, over)) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      silent = answers_ == seen ? silent + *passed : 0;
      seen = answers_;
    }
    if (silent < options_.silence_seconds) continue;
    LoseFirst(absl::StrCat("no word of it has come for ", options_.silence_seconds, " s"));
    return transport_->Abort(Channel::kControl);  // frees the thread that tells
  }
}

void Watch::LoseFirst(const std::string& what) {
  std::vector<RankWord> words(ranks_.size());
  std::vector<int> waiting;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (stop_) return;
    words[0].state = answer_.state;
    words[0].leaving = answer_.leaving;
    words[rank_] = OwnWord();
  }
  if (words[rank_].leaving != 0 || words[rank_].state.waits_for == 0) waiting.push_back(rank_);
  const Describe describe = GuardedDescribe();
  const absl::Status reason = InternalError(
      NameOf(ranks_[0]), " is lost: ", what, "; it was last heard of ",
      PlaceOf(words[0].state, words[0].leaving != 0, describe),
      WaitersText(waiting, ranks_, words, describe), "; look at what its process wrote");
  End({reason, 0, {0, words[0].state.step}}, true);
}

}  // namespace yuba::runtime
