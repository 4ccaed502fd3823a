// Which tiles of a map the threads of a GPU compute, where an access runs through memory along
// another loop than the result does.
//
// Example: y[i, j] = x[j, i] in f32. Neighbouring threads that compute neighbouring j write 512
// bytes side by side and read 32 elements that lie far apart, each in a sector of 32 bytes of its
// own: 8 times as many sectors as there are bytes in them. So a thread computes a *tile* of 4 x 4
// elements, reads 4 accesses of 16 bytes along i, one for each of its j, and writes 4 along j. A
// warp is laid out over the two loops as 8 x 4 threads: together an access of its threads reads 4
// times 128 bytes side by side, or writes 8 times 64. A block is 256 threads, 8 x 32.
//
// Which tile is chosen by counting: of each access the sectors that one access of a warp touches,
// with what is known of strides and alignment.
#ifndef YUBA_COMPILER_KERNELS_THREADS_TILES_H_
#define YUBA_COMPILER_KERNELS_THREADS_TILES_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "compiler/kernels/threads/strides.h"

namespace yuba::kernels {

// How the turns of one of a tile's loops are shared out.
struct TileSide {
  int lanes = 1;    // neighbouring turns that a thread computes
  int threads = 1;  // of a warp that are neighbours along the loop: a power of two
  int warps = 1;    // of a block: a power of two
  // Turns of a block.
  int64_t turns() const { return int64_t{lanes} * threads * warps; }
  friend bool operator==(const TileSide& a, const TileSide& b) {
    return a.lanes == b.lanes && a.threads == b.threads && a.warps == b.warps;
  }
};

struct ThreadTile {
  int across = -1;  // the position of the one loop among the points' loops; -1: there is no tile
  TileSide side;    // of that loop
  TileSide last;    // of the last loop, along which results lie
};

// What there is to share out.
struct TileWork {
  std::vector<MergedLoop> points;    // outermost first
  std::vector<Strides> accesses;     // of all definitions, which are maps
  std::vector<bool> may_have_lanes;  // [loop]: whether neighbours along it may be one thread's
  int64_t most_points = 0;           // at most so many are computed
  int lanes = 1;                     // that a thread computes along the last loop without tiles
};

// The tile of blocks of `threads` threads in which warps touch the fewest sectors; without one
// where that would not be a quarter fewer than without tiles.
ThreadTile ChooseTile(const TileWork& work, int warp, int threads);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_THREADS_TILES_H_
