#include "runtime/ranks/transports/store_board.h"

#include "runtime/ranks/transports/file_board.h"

namespace yuba::runtime {
namespace {

constexpr char kScheme[] = "tcp://";

}  // namespace

bool StoreBoard::IsAddress(const std::string& meeting) { return meeting.rfind(kScheme, 0) == 0; }

StoreBoard::StoreBoard(const std::string& address) {
  const std::string rest = address.substr(sizeof kScheme - 1);
  const size_t slash = rest.find('/');
  host_ = rest.substr(0, slash);
  if (slash != rest.npos) prefix_ = rest.substr(slash + 1);
  const size_t colon = host_.rfind(':');
  if (colon == host_.npos) return;
  port_ = host_.substr(colon + 1);
  host_ = host_.substr(0, colon);
  if (host_.size() > 2 && host_.front() == '[' && host_.back() == ']') {
    host_ = host_.substr(1, host_.size() - 2);
  }
}

std::string StoreBoard::Name() const { return "the store at " + host_ + ":" + port_; }

std::string StoreBoard::KeyOf(int rank) const {
  return "/yuba/" + prefix_ + "/rank-" + std::to_string(rank);
}

std::string StoreBoard::NameOfCard(int rank) const { return KeyOf(rank) + " of " + Name(); }

std::string StoreBoard::Advice() const {
  return "look at what they wrote, or give a folder that all ranks share by --meet";
}

// One thread of the store answers all ranks' looks at all cards.
std::chrono::milliseconds StoreBoard::Pause(int size) const {
  return std::chrono::milliseconds(10 + size * size / 50);
}

bool StoreBoard::Open(double timeout_seconds, std::string& error) {
  if (!host_.empty() && !port_.empty()) {
    return store_.Connect(host_, port_, timeout_seconds, error);
  }
  error = "a store's address is " + std::string(kScheme) + "HOST:PORT/JOB";
  return false;
}

bool StoreBoard::Write(int rank, const std::string& card, std::string& error) {
  return store_.Set(KeyOf(rank), card, error);
}

bool StoreBoard::Read(int rank, std::string& card, std::string& error) {
  return store_.Get(KeyOf(rank), card, error);
}

void StoreBoard::Remove(int rank) {
  std::string ignored;
  store_.Remove(KeyOf(rank), ignored);
}

std::unique_ptr<MeetingBoard> BoardAt(const std::string& meeting) {
  if (StoreBoard::IsAddress(meeting)) return std::make_unique<StoreBoard>(meeting);
  return std::make_unique<FileBoard>(meeting);
}

}  // namespace yuba::runtime
