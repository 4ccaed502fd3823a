// Ranks find each other at the store of torchrun's agent, whatever an earlier job has left there;
// a store that keeps to no protocol is an error, soon.
#include "runtime/ranks/transports/store_board.h"

#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "runtime/ranks/transports/meeting.h"
#include "tests/runtime/ranks/stand_in_store.h"

namespace yuba::runtime {
namespace {

constexpr double kLong = 60, kShort = 0.2;

std::string AddressOf(const StandInStore& store, const std::string& job) {
  return "tcp://127.0.0.1:" + std::to_string(store.port()) + "/" + job;
}

// All ranks as threads; with `leaves`, they take their cards away.
void MeetAll(const std::string& address, int size, const std::string& name, bool leaves) {
  std::vector<std::string> errors(size);
  std::vector<std::vector<std::string>> cards(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      StoreBoard board(address);
      if (!board.Open(kLong, errors[rank])) return;
      Meeting meeting(board, rank, size);
      meeting.Meet(name + std::to_string(rank), kLong, cards[rank], errors[rank]);
      if (leaves) meeting.Leave();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int rank = 0; rank < size; ++rank) {
    CHECK(errors[rank] == "");
    for (int other = 0; other < size; ++other) {
      CHECK(cards[rank][other] == name + std::to_string(other));
    }
  }
}

std::string ErrorAt(const std::string& address, double seconds) {
  StoreBoard board(address);
  std::string error;
  if (!board.Open(seconds, error)) return error;
  Meeting meeting(board, 0, 2);
  std::vector<std::string> cards;
  CHECK_FALSE(meeting.Meet("card", seconds, cards, error));
  return error;
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("all ranks get all cards, and none is left behind") {
  for (const Manner manner : {Manner::kRight, Manner::kByteByByte}) {
    StandInStore store(manner);
    for (const int size : {1, 2, 5}) MeetAll(AddressOf(store, "job"), size, "card ", false);
    MeetAll(AddressOf(store, "another"), 1, "card ", true);
    CHECK(store.values().size() == 5);
    CHECK(store.values().count("/yuba/job/rank-4") == 1);
  }
}

TEST_CASE("cards of an earlier job at one store are not taken for this one's") {
  StandInStore store;
  for (int job = 0; job < 10; ++job) {
    MeetAll(AddressOf(store, "job"), 3, "job " + std::to_string(job) + " rank ", false);
  }
}

TEST_CASE("who has not come is named") {
  StandInStore store;
  const std::string error = ErrorAt(AddressOf(store, "job"), kShort);
  CHECK(Contains(error, "rank 1 of 2 has not come to the store at 127.0.0.1:"));
  CHECK(store.values().empty());
}

TEST_CASE("a store that answers wrongly, or not at all, is an error") {
  const std::vector<std::pair<Manner, std::string>> wrong = {
      {Manner::kSilent, "no answer in time"},
      {Manner::kCloses, "it has closed the connection"},
      {Manner::kNonsense, "what answers is no store of torchrun"},
      {Manner::kHuge, "it says that a value has 9187201950435737471 bytes"}};
  for (const auto& [manner, expected] : wrong) {
    StandInStore store(manner);
    const std::string error = ErrorAt(AddressOf(store, "job"), kShort);
    INFO(error);
    CHECK(Contains(error, expected));
  }
}

TEST_CASE("where nobody listens, or no address is given, is an error") {
  int port = 0;
  {
    const StandInStore store;
    port = store.port();
  }
  const std::string error = ErrorAt("tcp://127.0.0.1:" + std::to_string(port) + "/job", kShort);
  CHECK(Contains(error, "no connection: Connection refused"));
  for (const std::string address : {"tcp://", "tcp:///", "tcp://host", "tcp://:1/x", "tcp://h:/"}) {
    CHECK(Contains(ErrorAt(address, kShort), "a store's address is tcp://HOST:PORT/JOB"));
  }
}

TEST_CASE("the address of a store may be one of IPv6") {
  CHECK(StoreBoard("tcp://[::1]:29500/job").Name() == "the store at ::1:29500");
}

}  // namespace
}  // namespace yuba::runtime
