#include "runtime/ranks/transports/meeting.h"

#include <random>
#include <sstream>
#include <thread>

namespace yuba::runtime {
namespace {

constexpr char kNone[] = "-";

}  // namespace

std::string Meeting::MadeUpWord() {
  std::random_device random;
  std::string word;
  while (word.size() < kWordLength) word += "0123456789abcdef"[random() % 16];
  return word;
}

Meeting::Meeting(MeetingBoard& board, int rank, int size)
    : board_(board), rank_(rank), size_(size), words_(size, kNone), met_(size) {
  words_[rank] = MadeUpWord();
  met_[rank] = true;
}

// A card is three lines: how many ranks, the words of all as far as this rank has read them, and
// what the rank says.
bool Meeting::Write(const std::string& card, std::string& error) {
  std::ostringstream text;
  text << size_ << "\n";
  for (const std::string& word : words_) text << word << " ";
  text << "\n" << card << "\n";
  return board_.Write(rank_, text.str(), error);
}

// Takes note of the card of `rank`, where it is there and was written by a process that has read
// ours. False where the board can't be read.
bool Meeting::Read(int rank, std::string& card, std::string& error) {
  std::string text;
  if (!board_.Read(rank, text, error)) return false;
  met_[rank] = Understands(rank, text, card);
  return true;
}

bool Meeting::Understands(int rank, const std::string& text, std::string& card) {
  std::istringstream stream(text);
  std::string size, words, says;
  if (!std::getline(stream, size) || size != std::to_string(size_)) return false;
  if (!std::getline(stream, words) || !std::getline(stream, says)) return false;
  std::istringstream of_all(words);
  std::string own, answer, word;
  for (int r = 0; r < size_ && of_all >> word; ++r) {
    if (r == rank) own = word;
    if (r == rank_) answer = word;
  }
  if (own.size() != kWordLength) return false;
  words_[rank] = own;
  card = says;
  return answer == words_[rank_];
}

bool Meeting::IsOwnCard(std::string& error) {
  std::string text;
  if (!board_.Read(rank_, text, error)) return false;
  std::istringstream stream(text);
  std::string line, word;
  std::getline(stream, line);
  for (int r = 0; r <= rank_; ++r) stream >> word;
  if (word == words_[rank_]) return true;
  error = "another process has replaced or removed " + board_.NameOfCard(rank_) +
          ": does another job meet there, or is there this rank twice?";
  return false;
}

std::string Meeting::Missing(double timeout_seconds) const {
  std::ostringstream text;
  int count = 0;
  for (int r = 0; r < size_; ++r) {
    if (!met_[r] && ++count <= 8) text << (count == 1 ? "" : ", ") << r;
  }
  if (count > 8) text << " and " << count - 8 << " more";
  std::ostringstream all;
  all << (count == 1 ? "rank " : "ranks ") << text.str() << " of " << size_
      << (count == 1 ? " has" : " have") << " not come to " << board_.Name() << " within "
      << timeout_seconds << " s; " << board_.Advice();
  return all.str();
}

bool Meeting::Meet(const std::string& card, double timeout_seconds, std::vector<std::string>& cards,
                   std::string& error) {
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_seconds);
  if (!Write(card, error)) return false;
  cards.assign(size_, "");
  cards[rank_] = card;
  while (true) {
    const std::vector<std::string> before = words_;
    bool all = true;
    for (int r = 0; r < size_; ++r) {
      if (!met_[r] && !Read(r, cards[r], error)) return false;
      all = all && met_[r];
    }
    if (!IsOwnCard(error)) return false;
    // The last words must be written even where all have been met: the others wait for them.
    if (words_ != before && !Write(card, error)) return false;
    if (all) return true;
    if (std::chrono::steady_clock::now() > end) {
      error = Missing(timeout_seconds);
      Leave();
      return false;
    }
    std::this_thread::sleep_for(board_.Pause(size_));
  }
}

void Meeting::Leave() {
  std::string ignored;
  if (IsOwnCard(ignored)) board_.Remove(rank_);
}

}  // namespace yuba::runtime
