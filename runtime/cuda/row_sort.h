// Many rows sorted on a GPU: for each row the places of its elements in their order, stable, by the
// keys of sort_key.h. The host compiles the same code for tests.
//
// A block sorts a *tile* of elements in its shared memory: several short rows, one row, or a part
// of a long one. Each thread sorts eight elements; then runs of 8, 16, 32, ... elements are merged
// in pairs, where each thread finds by bisection which elements are its eight of the result ("merge
// path"; the algorithm of CUB's BlockMergeSort). Parts of long rows are merged in the same way
// through memory, by one launch for each doubling, until the last one writes the places.
//
// A tile is sorted in *phases*, functions of a thread that share nothing but the tile: a kernel has
// a barrier between them, and the host does a phase for all threads and then the next.
//
// Example: 100 rows of 6 floats. Each row has 8 slots of a tile, so 256 rows fit one: one block;
// the phases are to load, to sort eight elements, and to store. A row of 128,256 floats is 63
// tiles and 6 launches that merge.
#ifndef YUBA_RUNTIME_CUDA_ROW_SORT_H_
#define YUBA_RUNTIME_CUDA_ROW_SORT_H_

#include <cstdint>

#include "runtime/cuda/job.h"
#include "runtime/cuda/sort_key.h"

namespace yuba::cuda {

constexpr int kSortedByThread = 8;
// So many elements are a tile; and so many threads sort it, or merge as many elements.
template <typename Key>
constexpr int kTileSlots = sizeof(Key) == 4 ? 2048 : 1024;
template <typename Key>
constexpr int kSortThreads = kTileSlots<Key> / kSortedByThread;

// A sort of `rows` rows from number `first_row` on. Key is uint64_t where WideKeys says so.
struct RowSort {
  // Numbers of a job (job.h) whose elements are the rows: its partial the first element of a row,
  // of type kJobFrom, its result the place of the first one in order.
  const int64_t* job;
  int64_t first_row, rows;
  int64_t length;             // of each row, at most what 32 bits count
  int64_t step, result_step;  // from element to element of a row
  int64_t tiles;              // of each row
  int slots;                  // of a tile that a row has, or a part of it: a power of two
  bool descending;
  // Of rows longer than a tile: two buffers of rows * length each, and what a merge does.
  void* keys[2];
  uint32_t* places[2];
  int64_t run;  // elements of a run that is sorted; a merge makes runs of twice as many
  int from;     // the buffer that it reads
  bool last;    // whether it writes places into the result, not keys and places to the other buffer
};

inline bool WideKeys(JobType type) {
  return type == JobType::kF64 || type == JobType::kI64 || type == JobType::kU64 ||
         type == JobType::kHash;
}

// Slots of a tile that rows of this length have, or parts of them.
template <typename Key>
constexpr int SortSlots(int64_t length) {
  int slots = kSortedByThread;
  while (slots < length && slots < kTileSlots<Key>) slots *= 2;
  return slots;
}

// What the threads of a block share. Eight neighbours are nine apart, so that threads that read
// their own eight do so from different banks.
template <typename Key>
struct SortTile {
  static constexpr int kPadded = kTileSlots<Key> + kSortThreads<Key>;
  Key keys[2][kPadded];
  uint32_t places[2][kPadded];
};
YUBA_HOST_DEVICE constexpr int PaddedSlot(int slot) { return slot + slot / kSortedByThread; }

// ---- What is merged, and where it goes: elements by number ----

// A row in one of the tile's buffers.
template <typename Key>
struct TileRow {
  SortTile<Key>& tile;
  int buffer, first_slot;
  YUBA_HOST_DEVICE Key KeyAt(int i) const { return tile.keys[buffer][PaddedSlot(first_slot + i)]; }
  YUBA_HOST_DEVICE uint32_t PlaceAt(int i) const {
    return tile.places[buffer][PaddedSlot(first_slot + i)];
  }
  YUBA_HOST_DEVICE void Put(int i, Key key, uint32_t place) const {
    tile.keys[buffer][PaddedSlot(first_slot + i)] = key;
    tile.places[buffer][PaddedSlot(first_slot + i)] = place;
  }
};

// A row, or a part of one, in the GPU's memory.
template <typename Key>
struct MemoryRow {
  Key* keys;
  uint32_t* places;
  YUBA_HOST_DEVICE Key KeyAt(int64_t i) const { return keys[i]; }
  YUBA_HOST_DEVICE uint32_t PlaceAt(int64_t i) const { return places[i]; }
  YUBA_HOST_DEVICE void Put(int64_t i, Key key, uint32_t place) const {
    keys[i] = key;
    places[i] = place;
  }
};
// `row` counts from first_row on.
template <typename Key>
YUBA_HOST_DEVICE MemoryRow<Key> MemoryRowOf(const RowSort& sort, int buffer, int64_t row) {
  // No array is indexed by what is not a constant: it would lie in memory.
  void* const keys = buffer == 0 ? sort.keys[0] : sort.keys[1];
  uint32_t* const places = buffer == 0 ? sort.places[0] : sort.places[1];
  return {static_cast<Key*>(keys) + row * sort.length, places + row * sort.length};
}

// A row of the result.
struct ResultRow {
  int64_t* first;
  int64_t step;
  template <typename Key>
  YUBA_HOST_DEVICE void Put(int64_t i, Key, uint32_t place) const {
    first[i * step] = place;
  }
};
YUBA_HOST_DEVICE inline ResultRow ResultRowOf(const RowSort& sort, int64_t row) {
  return {&JobElement<int64_t>(sort.job, 1, sort.first_row + row), sort.result_step};
}

// ---- Merging ----

// How many of the first `count` elements of two merged runs are the left one's: elements
// [left, middle) and [middle, end). Of equal elements the left run's come first.
template <typename Int, typename From>
YUBA_HOST_DEVICE Int MergePath(const From& from, Int left, Int middle, Int end, Int count) {
  const Int right_length = end - middle, left_length = middle - left;
  Int low = count > right_length ? count - right_length : 0;
  Int high = count < left_length ? count : left_length;
  while (low < high) {
    const Int half = (low + high) / 2;
    if (from.KeyAt(middle + (count - 1 - half)) < from.KeyAt(left + half))
      high = half;
    else
      low = half + 1;
  }
  return low;
}

// Of `count` elements, in which runs of `run` are sorted and are merged in pairs: writes the eight
// from number `first` on, a multiple of eight. `run` is a power of two, from eight on.
template <typename Int, typename From, typename To>
YUBA_HOST_DEVICE void MergeShare(const From& from, const To& to, Int run, Int count, Int first) {
  if (first >= count) return;
  const Int begin = first & ~(2 * run - 1);
  const Int middle = count - begin < run ? count : begin + run;
  const Int end = count - middle < run ? count : middle + run;
  const Int of_left = MergePath<Int>(from, begin, middle, end, first - begin);
  Int left = begin + of_left, right = middle + (first - begin - of_left);
  for (Int i = first; i < first + kSortedByThread && i < end; ++i) {
    const bool takes_left =
        right >= end || (left < middle && !(from.KeyAt(right) < from.KeyAt(left)));
    const Int taken = takes_left ? left++ : right++;
    to.Put(i, from.KeyAt(taken), from.PlaceAt(taken));
  }
}

// ---- The phases of a tile ----

template <typename Load>
YUBA_HOST_DEVICE auto SortKeyAt(const RowSort& sort, int64_t row, int64_t i) {
  using Stored = typename Load::Stored;
  const Stored* first = &JobElement<Stored>(sort.job, 0, sort.first_row + row);
  return Load::Key(first[i * sort.step]);
}

namespace sorted_types {
template <typename Type>
struct Number {
  using Stored = typename Type::Stored;
  YUBA_HOST_DEVICE static auto Key(Stored stored) { return SortKey(Type::Load(stored)); }
};
template <typename Type>
struct Small {  // integers that fit an int32_t
  using Stored = Type;
  YUBA_HOST_DEVICE static uint32_t Key(Stored stored) { return SortKey(int32_t{stored}); }
};
template <typename Type>
struct Unsigned {  // whose order is that of its bits
  using Stored = Type;
  YUBA_HOST_DEVICE static Type Key(Stored stored) { return stored; }
};
struct Truth {
  using Stored = uint8_t;
  YUBA_HOST_DEVICE static uint32_t Key(Stored stored) { return SortKey(stored != 0); }
};
struct Hash {
  using Stored = uint64_t;
  YUBA_HOST_DEVICE static uint64_t Key(Stored stored) { return HashSortKey(stored); }
};
}  // namespace sorted_types

// The key of element i of a row, ascending in the order that is asked for.
YUBA_HOST_DEVICE inline uint64_t LoadKey(const RowSort& sort, int64_t row, int64_t i, uint64_t) {
  namespace types = sorted_types;
  switch (static_cast<JobType>(sort.job[kJobFrom])) {
    case JobType::kF64: return SortKeyAt<types::Number<runtime::Plain<double>>>(sort, row, i);
    case JobType::kI64: return SortKeyAt<types::Number<runtime::Plain<int64_t>>>(sort, row, i);
    case JobType::kU64: return SortKeyAt<types::Unsigned<uint64_t>>(sort, row, i);
    default: return SortKeyAt<types::Hash>(sort, row, i);
  }
}
YUBA_HOST_DEVICE inline uint32_t LoadKey(const RowSort& sort, int64_t row, int64_t i, uint32_t) {
  namespace types = sorted_types;
  switch (static_cast<JobType>(sort.job[kJobFrom])) {
    case JobType::kF32: return SortKeyAt<types::Number<runtime::Plain<float>>>(sort, row, i);
    case JobType::kF16: return SortKeyAt<types::Number<runtime::F16>>(sort, row, i);
    case JobType::kBF16: return SortKeyAt<types::Number<runtime::BF16>>(sort, row, i);
    case JobType::kI32: return SortKeyAt<types::Number<runtime::Plain<int32_t>>>(sort, row, i);
    case JobType::kI8: return SortKeyAt<types::Small<int8_t>>(sort, row, i);
    case JobType::kU8: return SortKeyAt<types::Small<uint8_t>>(sort, row, i);
    case JobType::kI16: return SortKeyAt<types::Small<int16_t>>(sort, row, i);
    case JobType::kU16: return SortKeyAt<types::Small<uint16_t>>(sort, row, i);
    case JobType::kU32: return SortKeyAt<types::Unsigned<uint32_t>>(sort, row, i);
    default: return SortKeyAt<types::Truth>(sort, row, i);
  }
}

// What a slot of a block's tile holds.
struct SlotElement {
  int64_t row = 0;    // from first_row on
  int64_t first = 0;  // the first element of the row that is in the tile
  int count = 0;      // elements of the row in the tile
  int in_row = 0;     // the number of the slot among the row's
};
template <typename Key>
YUBA_HOST_DEVICE SlotElement ElementOf(const RowSort& sort, int64_t block, int slot) {
  SlotElement element;
  element.in_row = slot % sort.slots;
  if (sort.tiles > 1) {
    element.row = block / sort.tiles;
    element.first = block % sort.tiles * sort.slots;
  } else {
    element.row = block * (kTileSlots<Key> / sort.slots) + slot / sort.slots;
  }
  if (element.row >= sort.rows) return element;
  const int64_t left = sort.length - element.first;
  element.count = left < sort.slots ? static_cast<int>(left) : sort.slots;
  return element;
}

template <typename Key>
YUBA_HOST_DEVICE void LoadTile(const RowSort& sort, SortTile<Key>& tile, int64_t block,
                               int thread) {
  for (int slot = thread; slot < kTileSlots<Key>; slot += kSortThreads<Key>) {
    const SlotElement element = ElementOf<Key>(sort, block, slot);
    if (element.in_row >= element.count) continue;
    const int64_t i = element.first + element.in_row;
    const Key key = LoadKey(sort, element.row, i, Key{});
    tile.keys[0][PaddedSlot(slot)] = sort.descending ? static_cast<Key>(~key) : key;
    tile.places[0][PaddedSlot(slot)] = static_cast<uint32_t>(i);
  }
}

// A thread's own eight, in registers: neighbours that are out of order change places, in eight
// rounds. What is missing is behind all that is there.
template <typename Key>
YUBA_HOST_DEVICE void SortEight(const TileRow<Key>& row, int first, int count) {
  if (first >= count) return;
  Key keys[kSortedByThread];
  uint32_t places[kSortedByThread];
  for (int i = 0; i < kSortedByThread; ++i) {
    const bool there = first + i < count;
    keys[i] = there ? row.KeyAt(first + i) : static_cast<Key>(~Key{0});
    places[i] = there ? row.PlaceAt(first + i) : 0;
  }
  for (int round = 0; round < kSortedByThread; ++round) {
    for (int i = 0; i + 1 < kSortedByThread; ++i) {
      if (i % 2 != round % 2 || !(keys[i + 1] < keys[i])) continue;
      const Key key = keys[i];
      const uint32_t place = places[i];
      keys[i] = keys[i + 1];
      places[i] = places[i + 1];
      keys[i + 1] = key;
      places[i + 1] = place;
    }
  }
  for (int i = 0; i < kSortedByThread && first + i < count; ++i)
    row.Put(first + i, keys[i], places[i]);
}

template <typename Key>
YUBA_HOST_DEVICE void StoreTile(const RowSort& sort, SortTile<Key>& tile, int buffer, int64_t block,
                                int thread) {
  for (int slot = thread; slot < kTileSlots<Key>; slot += kSortThreads<Key>) {
    const SlotElement element = ElementOf<Key>(sort, block, slot);
    if (element.in_row >= element.count) continue;
    const Key key = tile.keys[buffer][PaddedSlot(slot)];
    const uint32_t place = tile.places[buffer][PaddedSlot(slot)];
    if (sort.tiles > 1)
      MemoryRowOf<Key>(sort, 0, element.row).Put(element.first + element.in_row, key, place);
    else
      ResultRowOf(sort, element.row).Put(element.in_row, key, place);
  }
}

// How many phases a tile takes: to load, to sort eight, to merge, to store.
YUBA_HOST_DEVICE inline int SortPhases(const RowSort& sort) {
  int phases = 3;
  for (int run = kSortedByThread; run < sort.slots; run *= 2) ++phases;
  return phases;
}

// One thread's share of a phase of its block.
template <typename Key>
YUBA_HOST_DEVICE void RunSortPhase(const RowSort& sort, int phase, SortTile<Key>& tile,
                                   int64_t block, int thread) {
  if (phase == 0) return LoadTile(sort, tile, block, thread);
  const int merges = phase - 2;  // before this phase
  const int run = kSortedByThread << (merges < 0 ? 0 : merges);
  if (phase > 1 && run == sort.slots) return StoreTile(sort, tile, merges % 2, block, thread);
  const int slot = thread * kSortedByThread;
  const SlotElement element = ElementOf<Key>(sort, block, slot);
  const int first_slot = slot - element.in_row;
  if (phase == 1)
    return SortEight(TileRow<Key>{tile, 0, first_slot}, element.in_row, element.count);
  MergeShare<int>(TileRow<Key>{tile, merges % 2, first_slot},
                  TileRow<Key>{tile, 1 - merges % 2, first_slot}, run, element.count,
                  element.in_row);
}

// ---- Long rows ----

// Threads that one merge of all rows has work for.
YUBA_HOST_DEVICE inline int64_t SharesOfRow(const RowSort& sort) {
  return (sort.length + kSortedByThread - 1) / kSortedByThread;
}

// Share number `share` of a merge.
template <typename Key>
YUBA_HOST_DEVICE void RunSortMerge(const RowSort& sort, int64_t share) {
  const int64_t row = share / SharesOfRow(sort);
  if (row >= sort.rows) return;
  const int64_t first = share % SharesOfRow(sort) * kSortedByThread;
  const MemoryRow<Key> from = MemoryRowOf<Key>(sort, sort.from, row);
  if (sort.last)
    return MergeShare<int64_t>(from, ResultRowOf(sort, row), sort.run, sort.length, first);
  MergeShare<int64_t>(from, MemoryRowOf<Key>(sort, 1 - sort.from, row), sort.run, sort.length,
                      first);
}

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_ROW_SORT_H_
