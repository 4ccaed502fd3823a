// The versions of ONNX's operators up to opset 28, in the form of versions.h. Written by
// write_versions.py from onnx 1.23.2, not by hand.
#include "compiler/import/translate/versions.h"

namespace yuba::onnx {

const char kOnnxVersions[] = R"(Abs 6 1>1 | 13 text
Acos 7 1>1 | 22 types
Acosh 9 1>1 | 22 types
Add 6 2>1 axis:i broadcast:i=0 | 7 2>1 | 13 types | 14 text
AffineGrid 20 2>1 align_corners:i=0
And 1 2>1 axis:i broadcast:i=0 | 7 2>1
ArgMax 1 1>1 axis:i=0 keepdims:i=1 | 11 text | 12 1>1 axis:i=0 keepdims:i=1 select_last_index:i=0
  | 13 text
ArgMin 1 1>1 axis:i=0 keepdims:i=1 | 11 text | 12 1>1 axis:i=0 keepdims:i=1 select_last_index:i=0
  | 13 text
Asin 7 1>1 | 22 types
Asinh 9 1>1 | 22 types
Atan 7 1>1 | 22 types
Atanh 9 1>1 | 22 types
Attention 23 3-6>1-4 is_causal:i=0 kv_num_heads:i q_num_heads:i qk_matmul_output_mode:i=0 scale:f
  softcap:f=0 softmax_precision:i | 24 3-7>1-4 is_causal:i=0 kv_num_heads:i q_num_heads:i
  qk_matmul_output_mode:i=0 scale:f softcap:f=0 softmax_precision:i | 25 3-7>1-4 is_causal:i=0
  kv_num_heads:i left_window_size:i=-1 q_num_heads:i qk_matmul_output_mode:i=0
  right_window_size:i=-1 scale:f softcap:f=0 softmax_precision:i
AveragePool 1 1>1 auto_pad:s=NOTSET kernel_shape:I pads:I strides:I | 7 1>1 auto_pad:s=NOTSET
  count_include_pad:i=0 kernel_shape:I pads:I strides:I | 10 1>1 auto_pad:s=NOTSET ceil_mode:i=0
  count_include_pad:i=0 kernel_shape:I pads:I strides:I | 11 text | 19 1>1 auto_pad:s=NOTSET
  ceil_mode:i=0 count_include_pad:i=0 dilations:I kernel_shape:I pads:I strides:I | 22 text
BatchNormalization 6 5>1-5 epsilon:f=1e-05 is_test:i=0 momentum:f=0.9 spatial:i=1 | 7 5>1-5
  epsilon:f=1e-05 momentum:f=0.9 spatial:i=1 | 9 5>1-5 epsilon:f=1e-05 momentum:f=0.9 | 14 5>1-3
  epsilon:f=1e-05 momentum:f=0.9 training_mode:i=0 | 15 text
Bernoulli 15 1>1 dtype:i seed:f | 22 types
BitCast 26 1>1 to:i
BitShift 11 2>1 direction:s | 28 text
BitwiseAnd 18 2>1
BitwiseNot 18 1>1
BitwiseOr 18 2>1
BitwiseXor 18 2>1
BlackmanWindow 17 1>1 output_datatype:i=1 periodic:i=1
Cast 6 1>1 to:i | 9 text | 13 text | 19 1>1 saturate:i=1 to:i | 21 types | 23 types | 24 1>1
  round_mode:s=up saturate:i=1 to:i | 25 types | 28 types
CastLike 15 2>1 | 19 2>1 saturate:i=1 | 21 types | 23 types | 24 2>1 round_mode:s=up saturate:i=1
  | 25 types
CausalConvWithState 27 2-4>2 activation:s=none
Ceil 6 1>1 | 13 text
Celu 12 1>1 alpha:f=1 | 28 types
CenterCropPad 18 2>1 axes:I
Clip 6 1>1 max:f=3.4028235e+38 min:f=-3.4028235e+38 | 11 1-3>1 | 12 types | 13 text
Col2Im 18 3>1 dilations:I pads:I strides:I
Compress 9 2>1 axis:i | 11 text | 28 types
Concat 4 1-*>1 axis:i | 11 text | 13 types
ConcatFromSequence 11 1>1 axis:i new_axis:i=0
Constant 1 0>1 value:t | 9 types | 11 0>1 sparse_value:p value:t | 12 0>1 sparse_value:p value:t
  value_float:f value_floats:F value_int:i value_ints:I value_string:s value_strings:S | 13 types
  | 19 types | 21 types | 23 types | 24 types | 25 types
ConstantOfShape 9 1>1 value:t | 20 types | 21 types | 23 types | 24 types | 25 types
Conv 1 2-3>1 auto_pad:s=NOTSET dilations:I group:i=1 kernel_shape:I pads:I strides:I | 11 text |
  22 types
ConvInteger 10 2-4>1 auto_pad:s=NOTSET dilations:I group:i=1 kernel_shape:I pads:I strides:I
ConvTranspose 1 2-3>1 auto_pad:s=NOTSET dilations:I group:i=1 kernel_shape:I output_padding:I
  output_shape:I pads:I strides:I | 11 text | 22 types
Cos 7 1>1 | 22 types
Cosh 9 1>1 | 22 types
CumProd 26 2>1 exclusive:i=0 reverse:i=0
CumSum 11 2>1 exclusive:i=0 reverse:i=0 | 14 types
DFT 17 1-2>1 axis:i=1 inverse:i=0 onesided:i=0 | 20 1-3>1 inverse:i=0 onesided:i=0
DeformConv 19 3-5>1 dilations:I group:i=1 kernel_shape:I offset_group:i=1 pads:I strides:I | 22
  types
DepthToSpace 1 1>1 blocksize:i | 11 1>1 blocksize:i mode:s=DCR | 13 text | 28 types
DequantizeLinear 10 2-3>1 | 13 2-3>1 axis:i=1 | 19 text | 21 2-3>1 axis:i=1 block_size:i=0 | 23
  2-3>1 axis:i=1 block_size:i=0 output_dtype:i=0 | 24 types | 25 types | 28 types
Det 11 1>1 | 22 types
Div 6 2>1 axis:i broadcast:i=0 | 7 2>1 | 13 types | 14 text
Dropout 6 1>1-2 is_test:i=0 ratio:f=0.5 | 7 1>1-2 ratio:f=0.5 | 10 text | 12 1-3>1-2 seed:i | 13
  types | 22 text
DynamicQuantizeLinear 11 1>3
Einsum 12 1-*>1 equation:s | 28 types
Elu 6 1>1 alpha:f=1 | 22 types
Equal 1 2>1 axis:i broadcast:i=0 | 7 2>1 | 11 types | 13 types | 19 types
Erf 9 1>1 | 13 types
Exp 6 1>1 | 13 types
Expand 8 2>1 | 13 types
EyeLike 9 1>1 dtype:i k:i=0 | 22 text
Flatten 1 1>1 axis:i=1 | 9 types | 11 text | 13 types | 21 types | 23 types | 24 types | 25 types
Floor 6 1>1 | 13 text
GRU 3 3-6>0-2 activation_alpha:F activation_beta:F activations:S clip:f direction:s=forward
  hidden_size:i linear_before_reset:i=0 output_sequence:i=0 | 7 3-6>0-2 activation_alpha:F
  activation_beta:F activations:S clip:f direction:s=forward hidden_size:i linear_before_reset:i=0
  | 14 3-6>0-2 activation_alpha:F activation_beta:F activations:S clip:f direction:s=forward
  hidden_size:i layout:i=0 linear_before_reset:i=0 | 22 types
Gather 1 2>1 axis:i=0 | 11 text | 13 text
GatherElements 11 2>1 axis:i=0 | 13 text
GatherND 11 2>1 | 12 2>1 batch_dims:i=0 | 13 text
Gelu 20 1>1 approximate:s=none
Gemm 6 3>1 alpha:f=1 beta:f=1 broadcast:i=0 transA:i=0 transB:i=0 | 7 3>1 alpha:f=1 beta:f=1
  transA:i=0 transB:i=0 | 9 types | 11 2-3>1 alpha:f=1 beta:f=1 transA:i=0 transB:i=0 | 13 text
GlobalAveragePool 1 1>1 | 22 types
GlobalLpPool 2 1>1 p:i=2 | 22 types
GlobalMaxPool 1 1>1 | 22 types
Greater 1 2>1 axis:i broadcast:i=0 | 7 2>1 | 9 types | 13 types
GreaterOrEqual 12 2>1 | 16 types
GridSample 16 2>1 align_corners:i=0 mode:s=bilinear padding_mode:s=zeros | 20 2>1
  align_corners:i=0 mode:s=linear padding_mode:s=zeros | 22 types
GroupNormalization 18 3>1 epsilon:f=1e-05 num_groups:i | 21 3>1 epsilon:f=1e-05 num_groups:i
  stash_type:i=1
HammingWindow 17 1>1 output_datatype:i=1 periodic:i=1
HannWindow 17 1>1 output_datatype:i=1 periodic:i=1
HardSigmoid 6 1>1 alpha:f=0.2 beta:f=0.5 | 22 types
HardSwish 14 1>1 | 22 types
Hardmax 1 1>1 axis:i=1 | 11 text | 13 1>1 axis:i=-1
Identity 1 1>1 | 13 types | 14 types | 16 types | 19 types | 21 types | 23 types | 24 types | 25
  types
If 1 1>1-* else_branch:g then_branch:g | 11 text | 13 types | 16 types | 19 types | 21 types | 23
  types | 24 types | 25 types
ImageDecoder 20 1>1 pixel_format:s=RGB
InstanceNormalization 6 3>1 epsilon:f=1e-05 | 22 types
IsInf 10 1>1 detect_negative:i=1 detect_positive:i=1 | 20 types
IsNaN 9 1>1 | 13 types | 20 types
LRN 1 1>1 alpha:f=0.0001 beta:f=0.75 bias:f=1 size:i | 13 text
LSTM 1 3-8>0-3 activation_alpha:F activation_beta:F activations:S clip:f direction:s=forward
  hidden_size:i input_forget:i=0 output_sequence:i=0 | 7 3-8>0-3 activation_alpha:F
  activation_beta:F activations:S clip:f direction:s=forward hidden_size:i input_forget:i=0 | 14
  3-8>0-3 activation_alpha:F activation_beta:F activations:S clip:f direction:s=forward
  hidden_size:i input_forget:i=0 layout:i=0 | 22 text
LayerNormalization 17 2-3>1-3 axis:i=-1 epsilon:f=1e-05 stash_type:i=1
LeakyRelu 6 1>1 alpha:f=0.01 | 16 types
Less 1 2>1 axis:i broadcast:i=0 | 7 2>1 | 9 types | 13 types
LessOrEqual 12 2>1 | 16 types
LinearAttention 27 3-6>2 chunk_size:i=64 kv_num_heads:i q_num_heads:i scale:f=0
  update_rule:s=gated_delta
Log 6 1>1 | 13 types
LogSoftmax 1 1>1 axis:i=1 | 11 text | 13 1>1 axis:i=-1
Loop 1 3-*>1-* body:g | 11 2-*>1-* body:g | 13 text | 16 text | 19 types | 21 types | 23 types |
  24 types | 25 types
LpNormalization 1 1>1 axis:i=-1 p:i=2 | 22 types
LpPool 2 1>1 auto_pad:s=NOTSET kernel_shape:I p:i=2 pads:I strides:I | 11 text | 18 1>1
  auto_pad:s=NOTSET ceil_mode:i=0 dilations:I kernel_shape:I p:i=2 pads:I strides:I | 22 types
MatMul 1 2>1 | 9 types | 13 types
MatMulInteger 10 2-4>1
Max 6 1-*>1 | 8 text | 12 types | 13 types
MaxPool 1 1>1 auto_pad:s=NOTSET kernel_shape:I pads:I strides:I | 8 1>1-2 auto_pad:s=NOTSET
  kernel_shape:I pads:I storage_order:i=0 strides:I | 10 1>1-2 auto_pad:s=NOTSET ceil_mode:i=0
  dilations:I kernel_shape:I pads:I storage_order:i=0 strides:I | 11 text | 12 text | 22 text
MaxRoiPool 1 2>1 pooled_shape:I spatial_scale:f=1 | 22 types
MaxUnpool 9 2-3>1 kernel_shape:I pads:I strides:I | 11 text | 22 types
Mean 6 1-*>1 | 8 text | 13 types
MeanVarianceNormalization 9 1>1 axes:I=0,2,3 | 13 text
MelWeightMatrix 17 5>1 output_datatype:i=1
Min 6 1-*>1 | 8 text | 12 types | 13 types
Mish 18 1>1 | 22 types
Mod 10 2>1 fmod:i=0 | 13 text | 28 text
Mul 6 2>1 axis:i broadcast:i=0 | 7 2>1 | 13 types | 14 text
Multinomial 7 1>1 dtype:i=6 sample_size:i=1 seed:f | 22 types
Neg 6 1>1 | 13 types
NegativeLogLikelihoodLoss 12 2-3>1 ignore_index:i reduction:s=mean | 13 text | 22 types
NonMaxSuppression 10 2-5>1 center_point_box:i=0 | 11 text
NonZero 9 1>1 | 13 types
Not 1 1>1
OneHot 9 3>1 axis:i=-1 | 11 text | 28 types
Optional 15 0-1>1 type:o | 28 types
OptionalGetElement 15 1>1 | 18 text | 28 types
OptionalHasElement 15 1>1 | 18 0-1>1 | 28 types
Or 1 2>1 axis:i broadcast:i=0 | 7 2>1
PRelu 6 2>1 | 7 text | 9 types | 16 types
Pad 2 1>1 mode:s=constant pads:I value:f=0 | 11 2-3>1 mode:s=constant | 13 text | 18 2-4>1
  mode:s=constant | 19 text | 21 types | 23 types | 24 types | 25 types
Pow 1 2>1 axis:i broadcast:i=0 | 7 2>1 | 12 types | 13 text | 15 types
QLinearConv 10 8-9>1 auto_pad:s=NOTSET dilations:I group:i=1 kernel_shape:I pads:I strides:I
QLinearMatMul 10 8>1 | 21 types
QuantizeLinear 10 2-3>1 | 13 2-3>1 axis:i=1 | 19 2-3>1 axis:i=1 saturate:i=1 | 21 2-3>1 axis:i=1
  block_size:i=0 output_dtype:i=0 saturate:i=1 | 23 2-3>1 axis:i=1 block_size:i=0 output_dtype:i=0
  precision:i=0 saturate:i=1 | 24 text | 25 text | 28 text
RMSNormalization 23 2>1 axis:i=-1 epsilon:f=1e-05 stash_type:i=1
RNN 1 3-6>0-2 activation_alpha:F activation_beta:F activations:S=Tanh,Tanh clip:f
  direction:s=forward hidden_size:i output_sequence:i=0 | 7 3-6>0-2 activation_alpha:F
  activation_beta:F activations:S=Tanh,Tanh clip:f direction:s=forward hidden_size:i | 14 3-6>0-2
  activation_alpha:F activation_beta:F activations:S=Tanh,Tanh clip:f direction:s=forward
  hidden_size:i layout:i=0 | 22 types
RandomNormal 1 0>1 dtype:i=1 mean:f=0 scale:f=1 seed:f shape:I | 22 types
RandomNormalLike 1 1>1 dtype:i mean:f=0 scale:f=1 seed:f | 22 types
RandomUniform 1 0>1 dtype:i=1 high:f=1 low:f=0 seed:f shape:I | 22 types
RandomUniformLike 1 1>1 dtype:i high:f=1 low:f=0 seed:f | 22 types
Range 11 3>1 | 27 3>1 stash_type:i=1
Reciprocal 6 1>1 | 13 types
ReduceL1 1 1>1 axes:I keepdims:i=1 | 11 text | 13 text | 18 1-2>1 keepdims:i=1
  noop_with_empty_axes:i=0
ReduceL2 1 1>1 axes:I keepdims:i=1 | 11 text | 13 text | 18 1-2>1 keepdims:i=1
  noop_with_empty_axes:i=0
ReduceLogSum 1 1>1 axes:I keepdims:i=1 | 11 text | 13 text | 18 1-2>1 keepdims:i=1
  noop_with_empty_axes:i=0 | 28 types
ReduceLogSumExp 1 1>1 axes:I keepdims:i=1 | 11 text | 13 text | 18 1-2>1 keepdims:i=1
  noop_with_empty_axes:i=0 | 28 types
ReduceMax 1 1>1 axes:I keepdims:i=1 | 11 text | 12 text | 13 text | 18 1-2>1 keepdims:i=1
  noop_with_empty_axes:i=0 | 20 text
ReduceMean 1 1>1 axes:I keepdims:i=1 | 11 text | 13 text | 18 1-2>1 keepdims:i=1
  noop_with_empty_axes:i=0
ReduceMin 1 1>1 axes:I keepdims:i=1 | 11 text | 12 text | 13 text | 18 1-2>1 keepdims:i=1
  noop_with_empty_axes:i=0 | 20 text
ReduceProd 1 1>1 axes:I keepdims:i=1 | 11 text | 13 text | 18 1-2>1 keepdims:i=1
  noop_with_empty_axes:i=0
ReduceSum 1 1>1 axes:I keepdims:i=1 | 11 text | 13 1-2>1 keepdims:i=1 noop_with_empty_axes:i=0
ReduceSumSquare 1 1>1 axes:I keepdims:i=1 | 11 text | 13 text | 18 1-2>1 keepdims:i=1
  noop_with_empty_axes:i=0
RegexFullMatch 20 1>1 pattern:s
Relu 6 1>1 | 13 types | 14 types
Reshape 5 2>1 | 13 types | 14 2>1 allowzero:i=0 | 19 types | 21 types | 23 types | 24 types | 25
  types
Resize 10 2>1 mode:s=nearest | 11 3-4>1 coordinate_transformation_mode:s=half_pixel
  cubic_coeff_a:f=-0.75 exclude_outside:i=0 extrapolation_value:f=0 mode:s=nearest
  nearest_mode:s=round_prefer_floor | 13 1-4>1 coordinate_transformation_mode:s=half_pixel
  cubic_coeff_a:f=-0.75 exclude_outside:i=0 extrapolation_value:f=0 mode:s=nearest
  nearest_mode:s=round_prefer_floor | 18 1-4>1 antialias:i=0 axes:I
  coordinate_transformation_mode:s=half_pixel cubic_coeff_a:f=-0.75 exclude_outside:i=0
  extrapolation_value:f=0 keep_aspect_ratio_policy:s=stretch mode:s=nearest
  nearest_mode:s=round_prefer_floor | 19 text
ReverseSequence 10 2>1 batch_axis:i=1 time_axis:i=0 | 28 types
RoiAlign 10 3>1 mode:s=avg output_height:i=1 output_width:i=1 sampling_ratio:i=0 spatial_scale:f=1
  | 16 3>1 coordinate_transformation_mode:s=half_pixel mode:s=avg output_height:i=1
  output_width:i=1 sampling_ratio:i=0 spatial_scale:f=1 | 22 types
RotaryEmbedding 23 3-4>1 interleaved:i=0 num_heads:i rotary_embedding_dim:i=0
Round 11 1>1 | 22 types
STFT 17 2-4>1 onesided:i=1
Scan 8 2-*>1-* body:g directions:I num_scan_inputs:i | 9 1-*>1-* body:g num_scan_inputs:i
  scan_input_axes:I scan_input_directions:I scan_output_axes:I scan_output_directions:I | 11 text
  | 16 types | 19 types | 21 types | 23 types | 24 types | 25 types
Scatter 9 3>1 axis:i=0 | 11 text
ScatterElements 11 3>1 axis:i=0 | 13 types | 16 3>1 axis:i=0 reduction:s=none | 18 text
ScatterND 11 3>1 | 13 types | 16 3>1 reduction:s=none | 18 text
Selu 6 1>1 alpha:f=1.6732632 gamma:f=1.050701 | 22 types
SequenceAt 11 2>1
SequenceConstruct 11 1-*>1
SequenceEmpty 11 0>1 dtype:i
SequenceErase 11 1-2>1
SequenceInsert 11 2-3>1
SequenceLength 11 1>1
SequenceMap 17 1-*>1-* body:g
Shape 1 1>1 | 13 types | 15 1>1 end:i start:i=0 | 19 types | 21 types | 23 types | 24 types | 25
  types
Shrink 9 1>1 bias:f=0 lambd:f=0.5
Sigmoid 6 1>1 | 13 types
Sign 9 1>1 | 13 types
Sin 7 1>1 | 22 types
Sinh 9 1>1 | 22 types
Size 1 1>1 | 13 types | 19 types | 21 types | 23 types | 24 types | 25 types
Slice 1 1>1 axes:I ends:I starts:I | 10 3-5>1 | 11 text | 13 text
Softmax 1 1>1 axis:i=1 | 11 text | 13 1>1 axis:i=-1
SoftmaxCrossEntropyLoss 12 2-3>1-2 ignore_index:i reduction:s=mean | 13 text
Softplus 1 1>1 | 22 types
Softsign 1 1>1 | 22 types
SpaceToDepth 1 1>1 blocksize:i | 13 types | 28 1>1 blocksize:i mode:s=DCR
Split 2 1>1-* axis:i=0 split:I | 11 text | 13 1-2>1-* axis:i=0 | 18 1-2>1-* axis:i=0 num_outputs:i
SplitToSequence 11 1-2>1 axis:i=0 keepdims:i=1 | 24 types
Sqrt 6 1>1 | 13 types
Squeeze 1 1>1 axes:I | 11 text | 13 1-2>1 | 21 types | 23 text | 24 types | 25 types
StringConcat 20 2>1
StringNormalizer 10 1>1 case_change_action:s=NONE is_case_sensitive:i=0 locale:s stopwords:S
StringSplit 20 1>2 delimiter:s maxsplit:i
Sub 6 2>1 axis:i broadcast:i=0 | 7 2>1 | 13 types | 14 text
Sum 6 1-*>1 | 8 text | 13 types
SwiGLU 28 2>1 alpha:f=1
Swish 24 1>1 alpha:f=1
Tan 7 1>1 | 22 types
Tanh 6 1>1 | 13 types
TensorScatter 24 2-3>1 axis:i=-2 mode:s=linear
TfIdfVectorizer 9 1>1 max_gram_length:i max_skip_count:i min_gram_length:i mode:s ngram_counts:I
  ngram_indexes:I pool_int64s:I pool_strings:S weights:F
ThresholdedRelu 10 1>1 alpha:f=1 | 22 types
Tile 6 2>1 | 13 types
TopK 1 1>2 axis:i=-1 k:i | 10 2>2 axis:i=-1 | 11 2>2 axis:i=-1 largest:i=1 sorted:i=1 | 24 types
Transpose 1 1>1 perm:I | 13 types | 21 text | 23 types | 24 types | 25 text
Trilu 14 1-2>1 upper:i=1
Unique 11 1>1-4 axis:i sorted:i=1 | 28 types
Unsqueeze 1 1>1 axes:I | 11 text | 13 2>1 | 21 types | 23 text | 24 types | 25 types
Upsample 1 1>1 height_scale:f mode:s=nearest width_scale:f | 7 1>1 mode:s=nearest scales:F | 9 2>1
  mode:s=nearest | 10 types
Where 9 3>1 | 16 types
Xor 1 2>1 axis:i broadcast:i=0 | 7 2>1
)";

}  // namespace yuba::onnx
