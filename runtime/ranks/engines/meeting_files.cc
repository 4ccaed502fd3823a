#include "runtime/ranks/engines/meeting_files.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>
#include <utility>

namespace yuba::runtime {
namespace {

constexpr char kNone[] = "-";
constexpr std::chrono::milliseconds kBetweenLooks(10);

std::string MadeUpWord() {
  std::random_device random;
  std::string word;
  while (word.size() < MeetingFiles::kWordLength) word += "0123456789abcdef"[random() % 16];
  return word;
}

}  // namespace

MeetingFiles::MeetingFiles(std::string folder, int rank, int size)
    : folder_(std::move(folder)), rank_(rank), size_(size), words_(size, kNone), met_(size) {
  words_[rank] = MadeUpWord();
  met_[rank] = true;
}

std::string MeetingFiles::File(int rank) const { return folder_ + "/rank-" + std::to_string(rank); }

// A card is three lines: how many ranks, the words of all as far as this rank has read them, and
// what the rank says.
bool MeetingFiles::Write(const std::string& card, std::string& error) const {
  const std::string file = File(rank_), aside = file + "." + words_[rank_];
  std::ofstream stream(aside);
  stream << size_ << "\n";
  for (const std::string& word : words_) stream << word << " ";
  stream << "\n" << card << "\n";
  stream.close();
  std::error_code problem;
  if (stream) std::filesystem::rename(aside, file, problem);
  if (stream && !problem) return true;
  error = "cannot write " + file + (problem ? ": " + problem.message() : "");
  return false;
}

// Whether the card of `rank` is there and was written by a process that has read ours.
bool MeetingFiles::Read(int rank, std::string& card) {
  std::ifstream stream(File(rank));
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

bool MeetingFiles::IsOwnCard() const {
  std::ifstream stream(File(rank_));
  std::string line, word;
  if (!std::getline(stream, line)) return false;
  for (int r = 0; r <= rank_; ++r) stream >> word;
  return word == words_[rank_];
}

std::string MeetingFiles::Missing(double timeout_seconds) const {
  std::ostringstream text;
  int count = 0;
  for (int r = 0; r < size_; ++r) {
    if (!met_[r] && ++count <= 8) text << (count == 1 ? "" : ", ") << r;
  }
  if (count > 8) text << " and " << count - 8 << " more";
  std::ostringstream all;
  all << (count == 1 ? "rank " : "ranks ") << text.str() << " of " << size_
      << (count == 1 ? " has" : " have") << " not come to " << folder_ << " within "
      << timeout_seconds << " s; all ranks must see the same folder";
  return all.str();
}

bool MeetingFiles::Meet(const std::string& card, double timeout_seconds,
                        std::vector<std::string>& cards, std::string& error) {
  std::error_code problem;
  std::filesystem::create_directories(folder_, problem);
  if (problem) {
    error = "cannot make the folder " + folder_ + ": " + problem.message();
    return false;
  }
  if (!Write(card, error)) return false;
  cards.assign(size_, "");
  cards[rank_] = card;
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_seconds);
  int left = size_ - 1;
  while (left > 0) {
    const std::vector<std::string> before = words_;
    for (int r = 0; r < size_; ++r) {
      if (!met_[r] && Read(r, cards[r])) {
        met_[r] = true;
        --left;
      }
    }
    if (!IsOwnCard()) {
      error = "another process has replaced or removed " + File(rank_) +
              ": does another job meet in this folder, or is there this rank twice?";
      return false;
    }
    // The last words must be written even where all have been met: the others wait for them.
    if (words_ != before && !Write(card, error)) return false;
    if (left > 0 && std::chrono::steady_clock::now() > end) {
      error = Missing(timeout_seconds);
      Leave();
      return false;
    }
    if (left > 0) std::this_thread::sleep_for(kBetweenLooks);
  }
  return true;
}

void MeetingFiles::Leave() {
  std::error_code ignored;
  if (IsOwnCard()) std::filesystem::remove(File(rank_), ignored);
}

}  // namespace yuba::runtime
