// What libraries do to the results of their products before they write them: which post-ops, how
// often, in which order, of operands that run along what. Data for each library, in the rows of
// targets.cc; has_chain.h compares calls with them.
//
// Example: kCublasLtSteps of targets.cc has the places SCALE; ADD or SUBTRACT of a residual; ADD of
// a bias; RELU or GELU_TANH. relu(c + r + b), relu(c + b + r) and 0.5 * c + b are such chains, and
// relu(c) + b and b * c are not.
#ifndef YUBA_COMPILER_KERNELS_POST_OP_CHAINS_H_
#define YUBA_COMPILER_KERNELS_POST_OP_CHAINS_H_

#include <array>
#include <cstdint>

#include "opsemantics/regions/post_ops.h"

namespace yuba::kernels {

// A step's place in a chain.
struct PostOpPlace {
  enum Along : uint8_t {
    kAnything,  // whatever indices the step's operand has
    kResult,    // it has an element for each of the result: a residual
    kChannels   // and here one for each channel: a bias
  };
  uint32_t kinds = 0;  // 1 << k for each PostOp::Kind k that may stand here
  Along along = kAnything;
};

// The steps that one call does: none or one in each place, in the order of the places, but that
// what is added may be added in any order. So every beginning of a chain is one.
struct PostOpChain {
  static constexpr int kMostPlaces = 4;
  std::array<PostOpPlace, kMostPlaces> places;  // behind those of the chain: no kinds
  bool any_order = false;                       // any number of steps, each of any place
};

// What the libraries of a target have. Channels are what a bias of the library runs along.
struct LibraryPostOps {
  // Of products of matrices. Channels: the index along which the result is contiguous, one of rows
  // or columns; a bias may have the others of that side too, and those of the batch.
  PostOpChain products;
  // The same, of slopes of activations, which come instead.
  PostOpChain slopes;
  // Of convolutions, and of contractions that are convolutions with windows of one tap, as their
  // channels stand outside of positions. Channels: those of the output.
  PostOpChain convolutions;
  // Steps on results of bf16 and f16 are done in the f32 in which products are added up, and
  // rounded once, where maps of their own would round each step.
  bool small_floats = false;
};

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_POST_OP_CHAINS_H_
