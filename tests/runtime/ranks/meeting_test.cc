// Ranks find each other in a folder whatever an earlier job has left there.
#include "runtime/ranks/transports/meeting.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "runtime/ranks/transports/file_board.h"
#include "tests/support/command.h"

namespace yuba::runtime {
namespace {

constexpr double kLong = 60;

struct Met {
  bool ok = false;
  std::vector<std::string> cards, words;
  std::string error;
};

// Ranks as threads; each says `name` and its number. They leave their cards there.
std::vector<Met> MeetAll(const std::string& folder, int size, const std::string& name) {
  std::vector<Met> met(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      FileBoard board(folder);
      if (!board.Open(kLong, met[rank].error)) return;
      Meeting meeting(board, rank, size);
      met[rank].ok =
          meeting.Meet(name + std::to_string(rank), kLong, met[rank].cards, met[rank].error);
      met[rank].words = meeting.words();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return met;
}

void CheckMet(const std::vector<Met>& met, const std::string& name) {
  for (const Met& rank : met) {
    INFO(rank.error);
    REQUIRE(rank.ok);
    CHECK(rank.words == met[0].words);
    for (size_t other = 0; other < met.size(); ++other) {
      CHECK(rank.cards[other] == name + std::to_string(other));
    }
  }
}

TEST_CASE("all ranks get all cards, and a folder that is missing is made") {
  for (const int size : {1, 2, 5}) {
    CheckMet(MeetAll(ScratchFolder("meeting") + "/new", size, "card "), "card ");
  }
}

TEST_CASE("cards of an earlier job are not taken for this one's") {
  const std::string folder = ScratchFolder("meeting");
  for (int job = 0; job < 10; ++job) {
    const std::string name = "job " + std::to_string(job) + " rank ";
    CheckMet(MeetAll(folder, 4, name), name);
    CHECK(std::filesystem::exists(folder + "/rank-3"));
  }
}

TEST_CASE("files of any bytes are not taken for cards") {
  const std::string folder = ScratchFolder("meeting");
  std::ofstream(folder + "/rank-0") << "";
  std::ofstream(folder + "/rank-1") << std::string(1000, '\0') << "\n3\n\n\n";
  std::ofstream(folder + "/rank-2") << "3\n- - -\nx\n";
  CheckMet(MeetAll(folder, 3, "card "), "card ");
}

TEST_CASE("who has not come is named, also where an old card lies there") {
  const std::string folder = ScratchFolder("meeting");
  CheckMet(MeetAll(folder, 3, "old "), "old ");
  FileBoard board(folder);
  Meeting alone(board, 1, 3);
  std::vector<std::string> cards;
  std::string error;
  CHECK_FALSE(alone.Meet("new", 0.1, cards, error));
  CHECK(error.find("ranks 0, 2 of 3 have not come to " + folder) != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder + "/rank-1"));
}

TEST_CASE("a rank that is there twice is an error") {
  const std::string folder = ScratchFolder("meeting");
  FileBoard board(folder), other_board(folder);
  Meeting first(board, 0, 2), second(other_board, 0, 2);
  std::vector<std::string> cards, other_cards;
  std::string error, other_error;
  std::thread thread([&] { first.Meet("first", 2, cards, error); });
  second.Meet("second", 2, other_cards, other_error);
  thread.join();
  CHECK((error + other_error).find("another process has replaced") != std::string::npos);
}

TEST_CASE("a folder that cannot be made is an error") {
  const std::string folder = ScratchFolder("meeting");
  std::ofstream(folder + "/file") << "";
  FileBoard board(folder + "/file/below");
  std::string error;
  CHECK_FALSE(board.Open(kLong, error));
  CHECK(error.find("cannot make the folder " + folder + "/file/below") != std::string::npos);
}

}  // namespace
}  // namespace yuba::runtime
