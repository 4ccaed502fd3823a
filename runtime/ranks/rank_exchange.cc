#include "runtime/ranks/rank_exchange.h"

#include "runtime/staging.h"

namespace yuba::runtime {
namespace {

class Maker {
 public:
  Maker(const ExchangePlan& plan, int rank) : plan_(plan), rank_(rank) {}

  RankExchange Make() {
    for (size_t d = 0; d < plan_.devices.size(); ++d) {
      const int reader = static_cast<int>(d);
      for (const Piece& piece : plan_.devices[d].pieces) {
        if (piece.walk.elements() == 0) continue;
        if (piece.source == rank_ && reader != rank_) Send(reader, piece.walk, 0);
        if (reader == rank_) AddPiece(piece);
      }
      for (const Cell& cell : plan_.devices[d].cells) {
        if (cell.walk.elements() == 0) continue;
        for (size_t part = 0; part < cell.sources.size(); ++part) {
          if (cell.sources[part] == rank_ && reader != rank_) Send(reader, cell.walk, part);
        }
        if (reader == rank_) AddCell(cell);
      }
    }
    return std::move(exchange_);
  }

 private:
  int64_t BytesOf(const BoxWalk& walk) const {
    return walk.elements() * plan_.source_element_bytes;
  }

  // What `reader` reads of this rank, which is buffer number `buffer` of its walk.
  void Send(int reader, const BoxWalk& walk, size_t buffer) {
    RankMessage message = {reader, true, {}, BytesOf(walk)};
    if (IsDense(walk, buffer)) {
      const int64_t begin = walk.buffers[buffer].offset * plan_.source_element_bytes;
      message.place = {Room::kArena, plan_.source_offset + begin};
    } else {
      Packing packing;
      packing.walk.extents = walk.extents;
      packing.walk.buffers = {walk.buffers[buffer], walk.buffers[buffer]};
      packing.walk = Packed(std::move(packing.walk), 1);
      packing.to = TakeStaging(message.bytes, exchange_.send_bytes);
      message.place = {Room::kSendBuffer, packing.to};
      exchange_.packings.push_back(std::move(packing));
    }
    exchange_.messages.push_back(message);
  }

  void AddPiece(const Piece& piece) {
    RankResult result = {false, piece.walk, {{Room::kArena, plan_.source_offset}}};
    if (piece.source != rank_) {
      RankMessage message = {piece.source, false, {}, BytesOf(piece.walk)};
      if (IsDense(piece.walk, 1)) {
        const int64_t begin = piece.walk.buffers[1].offset * plan_.source_element_bytes;
        message.place = {Room::kArena, plan_.destination_offset + begin};
        exchange_.messages.push_back(message);
        return;
      }
      result.walk = Packed(std::move(result.walk), 0);
      result.parts[0] = message.place = TakeReceived(message.bytes);
      exchange_.messages.push_back(message);
    }
    exchange_.results.push_back(std::move(result));
  }

  void AddCell(const Cell& cell) {
    RankResult result = {true, cell.walk, {}};
    for (size_t part = 0; part < cell.sources.size(); ++part) {
      const int source = cell.sources[part];
      if (source == rank_) {
        result.parts.push_back({Room::kArena, plan_.source_offset});
        continue;
      }
      const int64_t bytes = BytesOf(cell.walk);
      result.walk = Packed(std::move(result.walk), part);
      result.parts.push_back(TakeReceived(bytes));
      exchange_.messages.push_back({source, false, result.parts.back(), bytes});
    }
    exchange_.results.push_back(std::move(result));
  }

  Place TakeReceived(int64_t bytes) {
    return {Room::kReceiveBuffer, TakeStaging(bytes, exchange_.receive_bytes)};
  }

  const ExchangePlan& plan_;
  const int rank_;
  RankExchange exchange_;
};

}  // namespace

bool IsDense(const BoxWalk& walk, size_t buffer) {
  return Packed(walk, buffer).buffers[buffer].strides == walk.buffers[buffer].strides;
}

char* AddressOf(const Place& place, char* arena, char* send_buffer, char* receive_buffer) {
  switch (place.room) {
    case Room::kArena: return arena + place.offset;
    case Room::kSendBuffer: return send_buffer + place.offset;
    case Room::kReceiveBuffer: return receive_buffer + place.offset;
  }
  return nullptr;
}

RankExchange RankExchangeOf(const ExchangePlan& plan, int rank) { return Maker(plan, rank).Make(); }

}  // namespace yuba::runtime
