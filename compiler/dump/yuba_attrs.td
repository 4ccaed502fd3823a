// The attributes of the dialect yuba: what its operations say of meshes, shardings and boxes, as
// values with fields. Their texts are read and written by dialect.cc and the files it names.
//
// A sharding reads #yuba.sharding<[32/ab, 64]> wherever it stands: '/' is no token of MLIR, but
// between < and > MLIR leaves the text to the dialect.
#ifndef YUBA_COMPILER_DUMP_YUBA_ATTRS_TD_
#define YUBA_COMPILER_DUMP_YUBA_ATTRS_TD_

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"

def Yuba_Dialect : Dialect {
  let name = "yuba";
  let cppNamespace = "::yuba::compiler";
  let summary = "Graphs of definitions, how they are partitioned, and the programs they become";
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser& parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attr, ::mlir::DialectAsmPrinter& printer) const override;
  }];
}

// An attribute whose text the dialect reads itself, or that is part of such a one.
class Yuba_Attr<string name, string word> : AttrDef<Yuba_Dialect, name> {
  let attrName = "yuba." # word;
}

def Yuba_AxesAttr : Yuba_Attr<"Axes", "axes"> {
  let summary = "Mesh axes, outermost first: ab, data+model.1";
  let description = [{
    A word names an axis, a group of axes, or several axes of one letter each; which of them, the
    mesh decides (AxesOf in sharding_attr.h).
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$words);
}

def Yuba_DimensionAttr : Yuba_Attr<"Dimension", "dimension"> {
  let summary = "One dimension of a sharding: 32/ab, (3 12/c 64)";
  let parameters = (ins ArrayRefParameter<"int64_t">:$factors,
                    ArrayRefParameter<"::yuba::compiler::AxesAttr">:$axes);
}

def Yuba_ShardingAttr : Yuba_Attr<"Sharding", "sharding"> {
  let summary = "Over which mesh axes a tensor is cut: [32/ab, (3 12/c 64)]";
  let parameters = (ins ArrayRefParameter<"::yuba::compiler::DimensionAttr">:$dims);
}

#endif  // YUBA_COMPILER_DUMP_YUBA_ATTRS_TD_
