#include "runtime/ranks/judge.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"

namespace yuba::runtime {

Judge::Judge(std::vector<RankFacts> ranks, const JobOptions& options)
    : ranks_(std::move(ranks)), options_(options), known_(ranks_.size()) {}

absl::optional<Verdict> Judge::Look(double passed, const std::vector<Heard>& heard,
                                    const Describe& describe) {
  now_ += passed;
  Note(heard);
  absl::optional<Verdict> verdict = OfReports(describe);
  if (!verdict.has_value() && !suspicion_.has_value()) verdict = OfSilence(describe);
  if (!verdict.has_value() && !suspicion_.has_value()) verdict = OfWaits(describe);
  return verdict;
}

void Judge::Note(const std::vector<Heard>& heard) {
  for (size_t r = 0; r < heard.size(); ++r) {
    const int rank = static_cast<int>(r);
    Known& known = known_[r];
    const RankWord& word = heard[r].word;
    if (heard[r].words != known.words) known.heard_at = now_;
    const bool same = word.state == known.word.state && word.busy == known.word.busy &&
                      word.leaving == known.word.leaving;
    if (!same) known.changed_at = now_;
    known.words = heard[r].words;
    known.word = word;
    if (!heard[r].lost.empty() && !known.lost) {
      known.lost = true;
      Suspect({kLost, heard[r].lost_peer, 0, heard[r].lost});
    }
    if (word.report == known.reported) continue;
    known.reported = word.report;
    const std::string text(word.text.Get());
    if (word.report == Report::kFailed) {
      Suspect({kFailed, rank, word.status_code, text});
    } else {
      const bool named = word.lost_peer >= 0 && word.lost_peer < static_cast<int>(ranks_.size());
      Suspect({named ? kLost : kUnnamed, named ? word.lost_peer : rank, 0, text});
    }
  }
}

// Of two of one weight the first to arrive counts.
void Judge::Suspect(const Suspicion& suspicion) {
  if (!suspicion_.has_value()) suspected_at_ = now_;
  if (!suspicion_.has_value() || suspicion.weight > suspicion_->weight) suspicion_ = suspicion;
}

absl::optional<Verdict> Judge::OfReports(const Describe& describe) const {
  if (!suspicion_.has_value()) return absl::nullopt;
  const Suspicion& found = *suspicion_;
  const std::string name = NameOf(ranks_[found.rank]);
  const std::string place = Place(found.rank, describe);
  if (found.weight == kFailed) {
    const auto code = static_cast<absl::StatusCode>(found.code);
    return Verdict{absl::Status(code, absl::StrCat(name, " ", found.words)), -1,
                   FaultOf(found.rank)};
  }
  if (now_ - suspected_at_ < kGraceSeconds) return absl::nullopt;
  if (found.weight == kUnnamed) {
    return Verdict{InternalError(name, " ", place, " cannot reach the other ranks: ", found.words),
                   -1, FaultOf(found.rank)};
  }
  return Verdict{InternalError(name, " is lost: ", found.words, "; it was last heard of ", place,
                               Waiters(found.rank, describe),
                               "; look at what its process wrote, and its launcher"),
                 -1, FaultOf(found.rank)};
}

absl::optional<Verdict> Judge::OfSilence(const Describe& describe) const {
  for (size_t r = 1; r < known_.size(); ++r) {
    const double seconds = now_ - known_[r].heard_at;
    if (seconds < options_.silence_seconds) continue;
    const int rank = static_cast<int>(r);
    return Verdict{InternalError(NameOf(ranks_[r]), " is lost: no word of it has come for ",
                                 options_.silence_seconds, " s; it was last heard of ",
                                 Place(rank, describe), Waiters(rank, describe),
                                 "; see whether its process is stopped, or its host is down"),
                   rank, FaultOf(rank)};
  }
  return absl::nullopt;
}

int Judge::WaitsFor(int rank) const {
  const int other = known_[rank].word.state.waits_for;
  return other >= 0 && other < static_cast<int>(known_.size()) && other != rank ? other : -1;
}

// Whether nothing has changed about a rank for so long that it counts as stopped.
bool Judge::HasStopped(int rank) const {
  const Known& known = known_[rank];
  return known.word.busy == 0 && now_ - known.changed_at >= options_.timeout_seconds;
}

// A rank that waits is asked about by whom it waits for, and so on to the one that does not wait.
// One at its end waits for all others.
absl::optional<Verdict> Judge::OfWaits(const Describe& describe) const {
  const int size = static_cast<int>(known_.size());
  bool some_left = false;
  for (const Known& known : known_) some_left = some_left || known.word.leaving != 0;
  for (int start = 0; start < size; ++start) {
    const bool awaited = some_left && known_[start].word.leaving == 0;
    if (WaitsFor(start) < 0 && !awaited) continue;
    std::vector<int> path = {start};
    int next = WaitsFor(start);
    while (next >= 0 && std::find(path.begin(), path.end(), next) == path.end()) {
      path.push_back(next);
      next = WaitsFor(next);
    }
    if (next >= 0) {
      path.erase(path.begin(), std::find(path.begin(), path.end(), next));
      if (auto verdict = OfCycle(path, describe); verdict.has_value()) return verdict;
      continue;
    }
    const int last = path.back();
    if (!HasStopped(last)) continue;
    return Verdict{
        InternalError(NameOf(ranks_[last]), " has not got on for ", options_.timeout_seconds,
                      " s; it is ", Place(last, describe), Waiters(last, describe),
                      "; see what its process does, or give ", "it a longer time limit"),
        -1, FaultOf(last)};
  }
  return absl::nullopt;
}

absl::optional<Verdict> Judge::OfCycle(std::vector<int> cycle, const Describe& describe) const {
  for (int rank : cycle) {
    if (!HasStopped(rank)) return absl::nullopt;
  }
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  std::string text = absl::StrCat("deadlock for ", options_.timeout_seconds, " s: ");
  for (int rank : cycle) {
    if (rank != cycle.front()) absl::StrAppend(&text, "; ");
    absl::StrAppend(&text, NameOf(ranks_[rank]), " ", Place(rank, describe), " waits for rank ",
                    WaitsFor(rank));
  }
  return Verdict{InternalError(text), -1, FaultOf(cycle.front())};
}

RankFault Judge::FaultOf(int rank) const { return {rank, known_[rank].word.state.step}; }

std::vector<int> Judge::Waiting(int rank) const {
  std::vector<int> waiting;
  for (int other = 0; other < static_cast<int>(known_.size()); ++other) {
    const bool at_end = known_[other].word.leaving != 0;
    if (other != rank && (at_end || WaitsFor(other) == rank)) waiting.push_back(other);
  }
  return waiting;
}

std::string Judge::Place(int rank, const Describe& describe) const {
  const RankWord& word = known_[rank].word;
  return PlaceOf(word.state, word.leaving != 0, describe);
}

std::string Judge::Waiters(int rank, const Describe& describe) const {
  std::vector<RankWord> words;
  for (const Known& known : known_) words.push_back(known.word);
  return WaitersText(Waiting(rank), ranks_, words, describe);
}

}  // namespace yuba::runtime
