// Maps in tiles: each thread computes neighbours along two loops, and a warp is laid out over both
// (threads/tiles.h).
#include "compiler/kernels/kernel_builder.h"

namespace yuba::kernels {

// Runs `action` at the points that are the thread's, with a lane for each.
void KernelBuilder::OverTiles(const Action& action) {
  const std::vector<MergedLoop>& points = threads_->points;
  const ThreadTile& tile = threads_->tile;
  const auto split = [&](Value number, int by) -> std::pair<Value, Value> {
    const Value divisor = b_.create<arith::ConstantOp>(loc(), b_.getI32IntegerAttr(by));
    return {b_.create<arith::DivUIOp>(loc(), number, divisor),
            b_.create<arith::RemUIOp>(loc(), number, divisor)};
  };
  const auto [rest, side_thread] = split(ThreadNumber(b_, "tid.x"), tile.side.threads);
  const auto [warp, last_thread] = split(rest, tile.last.threads);
  const auto [last_warp, side_warp] = split(warp, tile.side.warps);
  const std::vector<Value> numbers = TileNumbers();
  const LaneLoop side =
      TileLanes(points[tile.across], tile.side, numbers[tile.across], side_warp, side_thread);
  const LaneLoop last = TileLanes(points.back(), tile.last, numbers.back(), last_warp, last_thread);
  Value inside;
  const auto bound = [&](const LaneLoop& lanes, const TileSide& of) {
    if (lanes.loop.extent && *lanes.loop.extent % of.turns() == 0) return;
    const Value is = Compare(arith::CmpIPredicate::slt, lanes.base, ExtentOf(lanes.loop));
    inside = Both(inside, is);
  };
  bound(side, tile.side);
  bound(last, tile.last);
  const Action at_tile = [&] {
    for (size_t l = 0; l + 1 < points.size(); ++l) {
      if (static_cast<int>(l) == tile.across) continue;
      BindLoop(points[l], b_.create<arith::ExtUIOp>(loc(), b_.getI64Type(), numbers[l]));
    }
    WithLanes({side, last}, action);
  };
  if (!inside) return at_tile();
  Where(inside, {}, [&](const Values&) {
    at_tile();
    return Values();
  });
}

// [loop of the points]: the number of the block's tile along it, an i32: blocks go through the last
// loop first.
std::vector<Value> KernelBuilder::TileNumbers() {
  const std::vector<MergedLoop>& points = threads_->points;
  const std::vector<int64_t> sides = threads_->Sides();
  std::vector<Value> numbers(points.size());
  Value rest = function_.Block();
  for (size_t l = points.size(); l-- > 1;) {
    const Value tiles = b_.create<arith::TruncIOp>(loc(), b_.getI32Type(),
                                                   s_.CeilDiv(ExtentOf(points[l]), sides[l]));
    numbers[l] = b_.create<arith::RemUIOp>(loc(), rest, tiles);
    rest = b_.create<arith::DivUIOp>(loc(), rest, tiles);
  }
  numbers[0] = rest;
  return numbers;
}

// The turns of one of a tile's loops that are the thread's: of warp number `warp` and thread number
// `thread` along that loop, of tile number `tile`, all i32.
LaneLoop KernelBuilder::TileLanes(const MergedLoop& loop, const TileSide& side, Value tile,
                                  Value warp, Value thread) {
  const auto wide = [&](Value number) -> Value {
    return b_.create<arith::ExtUIOp>(loc(), b_.getI64Type(), number);
  };
  const Value in_tile = s_.Add(s_.Mul(wide(warp), s_.Int(side.threads)), wide(thread));
  const Value first = s_.Mul(wide(tile), s_.Int(side.turns()));
  return {loop, side.lanes, s_.Add(first, s_.Mul(in_tile, s_.Int(side.lanes)))};
}

}  // namespace yuba::kernels
