#include "compiler/kernels/threads/tiles.h"

#include <algorithm>
#include <cstdlib>

#include "compiler/kernels/threads/limits.h"

namespace yuba::kernels {
namespace {

constexpr int64_t kSector = 32;  // bytes that memory moves at least
// Elements that a thread has in registers at a time: half of the registers that it may have.
constexpr int64_t kTileBytes = 512;
// Tiles of nearly as many sectors as there are without them are not worth their instructions.
constexpr double kGain = 0.75;
// In sectors what an access costs beside them: of two tiles that touch as many, that of fewer.
constexpr double kAnAccess = 1.0 / 64;
// A step of which nothing is known but that it is not 1.
constexpr int64_t kFar = int64_t{1} << 20;

int64_t PowerOfTwoIn(int64_t number, int64_t most) {
  while (number % most != 0) most /= 2;
  return most;
}

// Counts what the accesses of one warp touch.
class SectorCount {
 public:
  SectorCount(const TileWork& work, const ThreadTile& tile) : work_(work), tile_(tile) {}

  // For each element that a warp computes.
  double AnElement() const {
    double sectors = 0;
    for (const Strides& access : work_.accesses) sectors += Of(access);
    return sectors / static_cast<double>(tile_.side.lanes * tile_.side.threads * tile_.last.lanes *
                                         tile_.last.threads);
  }

 private:
  // How an access moves along one of the loops.
  struct Moves {
    int64_t step = 0;  // bytes by which a turn moves
    int64_t lanes = 1, threads = 1;
  };

  Moves Along(const Strides& access, int loop, const TileSide& side) const {
    const absl::optional<int64_t>& step = access.steps[work_.points[loop].indices.back()];
    Moves moves;
    moves.step = step ? std::abs(*step) * access.bytes : kFar;
    if (moves.step == 0) return moves;  // all threads and lanes read the same
    moves.lanes = side.lanes;
    moves.threads = side.threads;
    return moves;
  }

  // Of all accesses that the threads of a warp make for one element each, or for several at once.
  double Of(const Strides& access) const {
    Moves inner = Along(access, Last(), tile_.last),
          outer = Along(access, tile_.across, tile_.side);
    if (inner.step == 0 || (outer.step != 0 && outer.step < inner.step)) std::swap(inner, outer);
    if (inner.step == 0) return 1;
    const auto multiple = [&](const std::vector<TakenTurns>& taken) {
      return FirstMultiple(access, taken, kSector / access.bytes) * access.bytes;
    };
    const int64_t base = multiple(ByThread());
    // Bytes of one access.
    const int64_t apart = outer.lanes > 1 ? PowerOfTwoIn(outer.step, kAccessBytes) : kAccessBytes;
    int64_t width = access.bytes;
    if (inner.step == access.bytes) {
      width = std::min({PowerOfTwoIn(inner.lanes * access.bytes, kAccessBytes), apart,
                        std::max<int64_t>(std::min<int64_t>(base, kAccessBytes), access.bytes)});
    }
    const int64_t accesses = inner.lanes * access.bytes / width * outer.lanes;
    return static_cast<double>(accesses) *
           (kAnAccess + Touched(inner, outer, width, multiple(ByWarp())));
  }

  std::vector<TakenTurns> ByThread() const {
    return {{work_.points[tile_.across], tile_.side.lanes},
            {work_.points[Last()], tile_.last.lanes}};
  }
  std::vector<TakenTurns> ByWarp() const {
    return {{work_.points[tile_.across], tile_.side.lanes * tile_.side.threads},
            {work_.points[Last()], tile_.last.lanes * tile_.last.threads}};
  }

  int Last() const { return static_cast<int>(work_.points.size()) - 1; }

  // Sectors of one access of a warp, of `width` bytes a thread, on average. What the warp takes
  // first lies at a multiple of `base` bytes.
  static double Touched(const Moves& inner, const Moves& outer, int64_t width, int64_t base) {
    const int64_t pitch = inner.step * inner.lanes, row = outer.step * outer.lanes;
    const int64_t run = (inner.threads - 1) * pitch + width,
                  whole = (outer.threads - 1) * row + run;
    // Of what the first byte of a run, or of a thread's access, is a multiple.
    const int64_t within = outer.lanes > 1 ? PowerOfTwoIn(outer.step, kSector) : kSector;
    int64_t start = std::min(base, within);
    if (outer.threads > 1) start = std::min(start, PowerOfTwoIn(row, kSector));
    if (pitch > width) start = std::min({start, width, PowerOfTwoIn(pitch, kSector)});
    const auto sectors = [&](int64_t bytes) {
      return static_cast<double>(bytes + kSector - start) / static_cast<double>(kSector);
    };
    const double of_run =
        std::min(static_cast<double>(inner.threads) * sectors(width), sectors(run));
    return std::max(
        std::min(static_cast<double>(outer.threads) * of_run, sectors(whole)),
        static_cast<double>(inner.threads * outer.threads * width) / static_cast<double>(kSector));
  }

  const TileWork& work_;
  const ThreadTile& tile_;
};

class TileChooser {
 public:
  TileChooser(const TileWork& work, int warp, int threads)
      : work_(work),
        warp_(warp),
        warps_(threads / warp),
        last_(static_cast<int>(work.points.size()) - 1) {}

  ThreadTile Choose() {
    sectors_ = WithoutTiles() * kGain;
    for (int loop = 0; loop < last_; ++loop)
      if (RunsAlong(loop)) Try(loop);
    return best_;
  }

 private:
  bool RunsAlong(int loop) const {
    const MergedLoop& merged = work_.points[loop];
    return work_.may_have_lanes[loop] && work_.may_have_lanes.back() && merged.extent != 1 &&
           std::any_of(work_.accesses.begin(), work_.accesses.end(), [&](const Strides& access) {
             return !access.written && access.steps[merged.indices.back()] == 1;
           });
  }

  // A warp runs along the last loop, and along the one before it where that is short.
  double WithoutTiles() const {
    ThreadTile rows;
    rows.across = last_ - 1;
    rows.last.lanes = work_.lanes;
    const int64_t turns = work_.points[last_].extent.value_or(kFar) / work_.lanes;
    rows.last.threads = static_cast<int>(std::min<int64_t>(std::max<int64_t>(turns, 1), warp_));
    rows.side.threads = std::max(warp_ / rows.last.threads, 1);
    return SectorCount(work_, rows).AnElement();
  }

  void Try(int loop) {
    for (const int lanes : Lanes(loop)) {
      for (const int last_lanes : Lanes(last_)) {
        if (Fits(int64_t{lanes} * last_lanes, loop)) Try(loop, lanes, last_lanes);
      }
    }
  }

  void Try(int loop, int lanes, int last_lanes) {
    // Where several touch as few sectors, runs are long of what is read and of what is written.
    for (const int threads : {8, 4, 16, 2, 32, 1}) {
      if (threads > warp_) continue;
      ThreadTile tile;
      tile.across = loop;
      tile.side = {lanes, threads, 1};
      tile.last = {last_lanes, warp_ / threads, 1};
      const double idle = ShareOutWarps(tile);
      const double sectors = SectorCount(work_, tile).AnElement() * idle;
      if (sectors >= sectors_) continue;
      sectors_ = sectors;
      best_ = tile;
    }
  }

  // Neighbours that a thread may compute, the most first.
  std::vector<int> Lanes(int loop) const {
    const absl::optional<int64_t> extent = work_.points[loop].extent;
    std::vector<int> lanes;
    for (const int count : {8, 4, 2, 1})
      if (count == 1 || (extent && *extent % count == 0)) lanes.push_back(count);
    return lanes;
  }

  bool Fits(int64_t elements, int loop) const {
    if (elements == 1) return true;
    if (work_.most_points / elements < kEnoughThreads) return false;
    int64_t bytes = 0;
    for (const Strides& access : work_.accesses) {
      const bool each = access.steps[work_.points[loop].indices.back()] != 0 &&
                        access.steps[work_.points[last_].indices.back()] != 0;
      bytes += each ? elements * access.bytes : 0;
    }
    return bytes <= kTileBytes;
  }

  // Puts the warps of a block beside each other along the last loop, or along both where fewer
  // threads are idle then. Returns how many threads there are for each one that computes something.
  double ShareOutWarps(ThreadTile& tile) const {
    const ThreadTile warp = tile;
    double least = 0;
    for (int across = 1; across <= warps_; across *= 2) {
      ThreadTile block = warp;
      block.side.warps = across;
      block.last.warps = warps_ / across;
      const double idle = Idle(block.side, work_.points[block.across].extent) *
                          Idle(block.last, work_.points[last_].extent);
      if (across > 1 && idle >= least) continue;
      least = idle;
      tile = block;
    }
    return least;
  }

  static double Idle(const TileSide& side, absl::optional<int64_t> extent) {
    if (!extent || *extent == 0) return 1;
    const int64_t blocks = (*extent + side.turns() - 1) / side.turns();
    return static_cast<double>(blocks * side.turns()) / static_cast<double>(*extent);
  }

  const TileWork& work_;
  const int warp_, warps_, last_;
  double sectors_ = 0;  // for an element, that a better tile stays below
  ThreadTile best_;
};

}  // namespace

ThreadTile ChooseTile(const TileWork& work, int warp, int threads) {
  if (work.points.size() < 2) return {};
  return TileChooser(work, warp, threads).Choose();
}

}  // namespace yuba::kernels
