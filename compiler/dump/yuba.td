// The dialect yuba: the text in which the compiler shows a phase and from which it starts again.
// One generic operation (yuba.op) stands for every operator; the others are tensors and outputs of
// a graph, and the functions, buffers and instructions of a program. op_checks.cc has the verifiers.
#ifndef YUBA_COMPILER_DIALECT_YUBA_TD_
#define YUBA_COMPILER_DIALECT_YUBA_TD_

include "compiler/dump/yuba_attrs.td"
include "mlir/IR/OpBase.td"

class Yuba_Op<string mnemonic, list<Trait> traits = []> : Op<Yuba_Dialect, mnemonic, traits>;

def Yuba_GraphOp : Yuba_Op<"graph", [IsolatedFromAbove, NoTerminator, SingleBlock]> {
  let summary = "A graph of definitions; with a mesh also its plan";
  let description = [{
    `mesh` is absent before there is a plan. Values have the tensors' types over flat dimensions.
  }];
  let arguments = (ins OptionalAttr<Yuba_MeshAttr>:$mesh, DictionaryAttr:$info);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`mesh` $mesh^)? $info attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def Yuba_TensorOp : Yuba_Op<"tensor"> {
  let summary = "A tensor that nothing in the graph computes: an input, a weight or a constant";
  let description = "The factors of `sharding` are the tensor's.";
  let arguments = (ins StrAttr:$name, Yuba_KindAttr:$kind, Yuba_ShardingAttr:$sharding,
                   I64Attr:$id);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$name $kind custom<Named>($sharding) attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Yuba_DefinitionOp : Yuba_Op<"op"> {
  let summary = "A use of any operator: one definition, its operands and its result";
  let description = [{
    `name` and `id` are the result's, `definition` is the core form: the verifier builds it again,
    compares it with `text`, and asks the box analysis whether it stays within its operands.
    Where the graph has a mesh, `partition` says over which axes the indices are cut. With `copy`
    the result is a transient copy of the operand.
  }];
  let arguments = (ins StrAttr:$op, Variadic<AnyRankedTensor>:$operands, StrAttr:$name,
                   StrAttr:$from, I64Attr:$instance, I64Attr:$id, Yuba_ShardingAttr:$sharding,
                   OptionalAttr<Yuba_PartitionAttr>:$partition, StrAttr:$text,
                   DictionaryAttr:$definition, UnitAttr:$copy);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    (`copy` $copy^)? $op `(` $operands `)` $name custom<Named>($sharding)
    (`by` custom<Named>($partition)^)? attr-dict `:` functional-type($operands, $result)
  }];
  let hasVerifier = 1;
}

def Yuba_EntryOp : Yuba_Op<"entry"> {
  let summary = "Where an entry of a graph or program begins; without any there is one";
  let description = "`times` is how often it runs where the others run as often as they say.";
  let arguments = (ins StrAttr:$name, DefaultValuedAttr<I64Attr, "1">:$times);
  let assemblyFormat = "$name (`times` $times^)? attr-dict";
}

def Yuba_OutputOp : Yuba_Op<"output"> {
  let summary = "The graph's outputs, in order";
  let arguments = (ins Variadic<AnyRankedTensor>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

def Yuba_ProgramOp : Yuba_Op<"program", [IsolatedFromAbove, NoTerminator, SingleBlock]> {
  let summary = "A program, the same for all devices of the mesh";
  let arguments = (ins Yuba_MeshAttr:$mesh, I64Attr:$arena_size,
                   DefaultValuedStrAttr<StrAttr, "">:$version,
                   DefaultValuedStrAttr<StrAttr, "">:$graph_hash,
                   DefaultValuedStrAttr<StrAttr, "">:$target,
                   DefaultValuedStrAttr<StrAttr, "">:$host_object,
                   DefaultValuedStrAttr<StrAttr, "">:$ptx, UnitAttr:$hash_arithmetic);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`mesh` $mesh `,` `arena` $arena_size attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def Yuba_FunctionOp : Yuba_Op<"function"> {
  let summary = "What kernels call: a definition alone; numbered with the clusters, in order";
  let description = "What the fields of `opaque` mean is at OpaqueCalls in program.proto.";
  let arguments = (ins StrAttr:$text,
                   TypedArrayAttrBase<Yuba_FunctionIndexAttr, "indices">:$indices,
                   Yuba_ReducerAttr:$reducer, OptionalAttr<StrAttr>:$symbol,
                   OptionalAttr<Yuba_LibraryAttr>:$library, OptionalAttr<DictionaryAttr>:$opaque,
                   OptionalAttr<TypedArrayAttrBase<Yuba_IndexSplitAttr, "splits">>:$splits,
                   UnitAttr:$checks_indices);
  let assemblyFormat = [{
    $text custom<Indices>($indices) $reducer (`library` $library^)? (`opaque` $opaque^)?
    (`splits` custom<Splits>($splits)^)? (`checks_indices` $checks_indices^)? attr-dict
  }];
}

def Yuba_ClusterOp : Yuba_Op<"cluster"> {
  let summary = "What kernels call: several definitions that share their leading indices";
  let arguments = (ins TypedArrayAttrBase<Yuba_FunctionIndexAttr, "indices">:$indices,
                   TypedArrayAttrBase<Yuba_FunctionDefinitionAttr, "definitions">:$definitions,
                   OptionalAttr<StrAttr>:$symbol,
                   OptionalAttr<TypedArrayAttrBase<Yuba_IndexSplitAttr, "splits">>:$splits,
                   UnitAttr:$checks_indices);
  let assemblyFormat = [{
    custom<Indices>($indices) custom<Definitions>($definitions)
    (`splits` custom<Splits>($splits)^)? (`checks_indices` $checks_indices^)? attr-dict
  }];
}

def Yuba_BufferOp : Yuba_Op<"buffer"> {
  let summary = "A box of a tensor in the arena; the type is the whole tensor's";
  let arguments = (ins StrAttr:$name, Yuba_BoxAttr:$box, I64Attr:$offset, I64Attr:$size,
                   I64Attr:$first, I64Attr:$last, UnitAttr:$initialized);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = [{
    $name $box (`initialized` $initialized^)? `at` $offset `size` $size `live` $first `to` $last
    attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Yuba_PortOp : Yuba_Op<"port"> {
  let summary = "A value that the caller sets or reads, in the shape that the user knows";
  let arguments = (ins Yuba_PortKindAttr:$kind, StrAttr:$name, AnyMemRef:$buffer,
                   DenseI64ArrayAttr:$shape, OptionalAttr<I64Attr>:$examples);
  let assemblyFormat = "$kind $name `of` $buffer `shape` $shape attr-dict `:` type($buffer)";
}

// Of a cluster a list of names, one for each definition.
def Yuba_NamesAttr : AnyAttrOf<[StrAttr, StrArrayAttr]>;

def Yuba_KernelOp : Yuba_Op<"kernel", [AttrSizedOperandSegments]> {
  let summary = "A call of a function on buffers; `indices` is a device's range of each index";
  let arguments = (ins Yuba_NamesAttr:$node, I64Attr:$function, Yuba_BoxAttr:$indices,
                   Variadic<AnyMemRef>:$buffers,
                   TypedArrayAttrBase<Yuba_AccessAttr, "accesses">:$reads,
                   Variadic<AnyMemRef>:$written, TypedArrayAttrBase<Yuba_BoxAttr, "boxes">:$writes,
                   OptionalAttr<TypedArrayAttrBase<Yuba_InternalAttr, "internals">>:$internals,
                   Yuba_NamesAttr:$from);
  let assemblyFormat = [{
    $node `function` $function `over` $indices `reads` custom<Reads>($buffers, $reads)
    `writes` custom<Writes>($written, $writes) (`internals` custom<Internals>($internals)^)?
    attr-dict `:` `(` type($buffers) `)` `->` type($written)
  }];
  let hasVerifier = 1;
}

def Yuba_ExchangeOp : Yuba_Op<"exchange"> {
  let summary = "Moves boxes between devices: a gather, or a reduction of what was written";
  let description = [{
    A reduction of partials says `reducer`, how many `partials` each element has, and in the table
    `partial` which one a device wrote. `group` is a table too: devices take only from devices of
    their group. `collective` and `axes` are what the exchange was recognised as.
  }];
  let arguments = (ins StrAttr:$tensor, StrAttr:$node, AnyMemRef:$source, Yuba_BoxAttr:$from,
                   AnyMemRef:$destination, Yuba_BoxAttr:$to, UnitAttr:$reduce,
                   UnitAttr:$from_first_only, OptionalAttr<Yuba_ReducerAttr>:$reducer,
                   DefaultValuedAttr<I64Attr, "1">:$partials,
                   OptionalAttr<Yuba_BoundAttr>:$partial, OptionalAttr<Yuba_BoundAttr>:$group,
                   Yuba_CollectiveAttr:$collective, OptionalAttr<Yuba_AxesAttr>:$axes);
  let assemblyFormat = [{
    (`reduce` $reduce^)? $tensor `at` $node `:` $source $from `->` $destination $to $collective
    (`over` $axes^)? (`reducer` $reducer^)? (`partials` $partials^)? (`partial` $partial^)?
    (`group` $group^)? attr-dict `:` type($source) `->` type($destination)
  }];
  let hasVerifier = 1;
}

def Yuba_RepeatOp : Yuba_Op<"repeat", [NoTerminator, SingleBlock]> {
  let summary = "Runs its body `count` times";
  let arguments = (ins I64Attr:$count);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$count attr-dict-with-keyword $body";
}

#endif  // YUBA_COMPILER_DIALECT_YUBA_TD_
