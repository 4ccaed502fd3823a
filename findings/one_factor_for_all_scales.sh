#!/usr/bin/env bash
# oneDNN 2.5, 2.6 and 3.0 (onednn-cpu-gomp 2022.0.2, 2022.2.1 and 2023.0.0): a convolution
# with two post-ops "eltwise linear", which multiply by 2 and by 5.
# One would guess: the sum of products times 10; 3.1 does that.
# Seen: it is multiplied by 2 twice, with no error.
# Why it matters: who joins the scales behind a product into its call (a scale of attention, a factor
# of a residual) gets wrong numbers.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/scales.cc" <<'CODE'
#include <cstdio>
#include <vector>
#include "oneapi/dnnl/dnnl.hpp"

using dnnl::memory;

// A convolution of ones, 32 channels to 32 with one tap, then times 2, times 5: 320 is right.
int main() {
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  constexpr auto type = memory::data_type::f32;
  memory::desc image({1, 32, 4, 4}, type, memory::format_tag::nhwc);
  memory::desc filter({32, 32, 1, 1}, type, memory::format_tag::any);
  dnnl::post_ops steps;
  dnnl::primitive_attr attributes;
  constexpr auto forward = dnnl::prop_kind::forward_inference;
  constexpr auto direct = dnnl::algorithm::convolution_direct;
  constexpr auto linear = dnnl::algorithm::eltwise_linear;
#if DNNL_VERSION_MAJOR == 2
  for (float factor : {2.0f, 5.0f}) steps.append_eltwise(1.0f, linear, factor, 0.0f);
  attributes.set_post_ops(steps);
  dnnl::convolution_forward::primitive_desc plan(
      dnnl::convolution_forward::desc(forward, direct, image, filter, image, {1, 1}, {0, 0}, {0, 0}),
      attributes, engine);
#else
  for (float factor : {2.0f, 5.0f}) steps.append_eltwise(linear, factor, 0.0f);
  attributes.set_post_ops(steps);
  dnnl::convolution_forward::primitive_desc plan(engine, forward, direct, image, filter, image,
                                                 {1, 1}, {0, 0}, {0, 0}, attributes);
#endif
  memory source(image, engine), weights(plan.weights_desc(), engine), result(image, engine);
  for (memory* filled : {&source, &weights}) {
    float* values = static_cast<float*>(filled->get_data_handle());
    for (size_t i = 0; i < filled->get_desc().get_size() / sizeof(float); ++i) values[i] = 1;
  }
  dnnl::convolution_forward(plan).execute(
      stream, {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, result}});
  stream.wait();
  std::printf("%d.%d %s: %g\n", dnnl_version()->major, dnnl_version()->minor, plan.impl_info_str(),
              static_cast<float*>(result.get_data_handle())[0]);
}
CODE
seen=
for version in 2022.0.2 2022.2.1 2023.0.0 2023.1.0; do
  python3 -m venv "$work/$version" || exit 2
  "$work/$version/bin/pip" install -q "onednn-cpu-gomp==$version" "onednn-devel-cpu-gomp==$version" || exit 2
  library=$(dirname "$(find "$work/$version" -name 'libdnnl.so*' -print -quit)")
  header=$(find "$work/$version" -path '*oneapi/dnnl/dnnl.hpp' -print -quit)
  so=$(find "$library" -name 'libdnnl.so*' | sort | head -n 1)
  g++ -std=c++17 -I"${header%/oneapi/dnnl/dnnl.hpp}" "$work/scales.cc" -o "$work/scales-$version" \
    "$so" -Wl,-rpath,"$library" || exit 2
  line=$(LD_LIBRARY_PATH=$library "$work/scales-$version")
  echo "$line"
  seen+="${line##*: } "
done
[[ $seen == "128 128 128 320 " ]]
