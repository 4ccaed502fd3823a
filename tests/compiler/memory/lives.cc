#include "tests/compiler/memory/lives.h"

#include <algorithm>
#include <map>

#include "opsemantics/base/slot.h"

namespace yuba::compiler {

bool AreDisjoint(const std::vector<BufferLife>& lives, const std::vector<int64_t>& offsets,
                 int64_t arena) {
  for (size_t a = 0; a < lives.size(); ++a) {
    if (offsets[a] % kSlotBytes != 0 || offsets[a] + lives[a].size > arena) return false;
    for (size_t b = 0; b < a; ++b) {
      const bool overlap =
          offsets[a] < offsets[b] + lives[b].size && offsets[b] < offsets[a] + lives[a].size;
      if (LiveAtOnce(lives[a], lives[b]) && overlap) return false;
    }
  }
  return true;
}

std::vector<BufferLife> Filling(int64_t slots, int64_t times, int splits, std::mt19937_64* random) {
  struct Piece {
    int64_t bottom, top, begin, end;
  };
  std::vector<Piece> pieces = {{0, slots, 0, times}};
  for (int i = 0; i < splits; ++i) {
    Piece& piece = pieces[(*random)() % pieces.size()];
    Piece rest = piece;
    if ((*random)() % 2 == 0 && piece.top - piece.bottom > 1) {
      piece.top = rest.bottom = piece.bottom + 1 + (*random)() % (piece.top - piece.bottom - 1);
    } else if (piece.end - piece.begin > 1) {
      piece.end = piece.begin + 1 + (*random)() % (piece.end - piece.begin - 1);
      rest.begin = piece.end;
    } else {
      continue;
    }
    pieces.push_back(rest);
  }
  std::vector<BufferLife> lives;
  for (const Piece& piece : pieces) {
    // Some bytes of the last slot are not used.
    const int64_t unused = static_cast<int64_t>((*random)() % kSlotBytes);
    lives.push_back({piece.begin, piece.end, (piece.top - piece.bottom) * kSlotBytes - unused});
  }
  std::shuffle(lives.begin(), lives.end(), *random);
  return lives;
}

std::vector<BufferLife> Chain(int layers, std::mt19937_64* random) {
  const auto size = [&] { return static_cast<int64_t>(1 + (*random)() % 40) * kSlotBytes; };
  std::vector<BufferLife> lives;
  for (int layer = 0; layer < layers; ++layer) {
    const int64_t now = 2 * layer;
    lives.push_back({0, 2 * layers + 1, size()});
    lives.push_back({now, now + 3, size()});
    lives.push_back({now, now + 2, size()});
    lives.push_back({now + 1, now + 2, size()});
  }
  return lives;
}

int64_t LiveSlots(const std::vector<BufferLife>& lives) {
  std::map<int64_t, int64_t> change;  // by time
  for (const BufferLife& life : lives) {
    change[life.begin] += SlotBytes(life.size);
    change[life.end] -= SlotBytes(life.size);
  }
  int64_t live = 0, most = 0;
  for (const auto& [time, by] : change) most = std::max(most, live += by);
  return most;
}

}  // namespace yuba::compiler
