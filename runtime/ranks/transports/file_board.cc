#include "runtime/ranks/transports/file_board.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "runtime/ranks/transports/meeting.h"

namespace yuba::runtime {

FileBoard::FileBoard(std::string folder)
    : folder_(std::move(folder)), word_(Meeting::MadeUpWord()) {}

std::string FileBoard::NameOfCard(int rank) const {
  return folder_ + "/rank-" + std::to_string(rank);
}

std::chrono::milliseconds FileBoard::Pause(int /*size*/) const {
  return std::chrono::milliseconds(10);
}

bool FileBoard::Open(double /*timeout_seconds*/, std::string& error) {
  std::error_code problem;
  std::filesystem::create_directories(folder_, problem);
  if (problem) error = "cannot make the folder " + folder_ + ": " + problem.message();
  return !problem;
}

bool FileBoard::Write(int rank, const std::string& card, std::string& error) {
  const std::string file = NameOfCard(rank), aside = file + "." + word_;
  std::ofstream stream(aside, std::ios::binary);
  stream << card;
  stream.close();
  std::error_code problem;
  if (stream) std::filesystem::rename(aside, file, problem);
  if (stream && !problem) return true;
  error = "cannot write " + file + (problem ? ": " + problem.message() : "");
  std::error_code ignored;
  std::filesystem::remove(aside, ignored);
  return false;
}

bool FileBoard::Read(int rank, std::string& card, std::string& /*error*/) {
  std::ifstream stream(NameOfCard(rank), std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();  // a folder in its place gives nothing
  card = text.str();
  return true;
}

void FileBoard::Remove(int rank) {
  std::error_code ignored;
  std::filesystem::remove(NameOfCard(rank), ignored);
}

}  // namespace yuba::runtime
