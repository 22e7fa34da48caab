package io.prmalloc.onnx;

/**
 * Where ONNX keeps what we read: numbers of fields of its protobuf messages. Fields that are not
 * named here are passed over.
 *
 * <pre>
 * Model      1 ir_version   7 graph: Graph   8 opset_import: [OperatorSet]   25 functions
 * Graph      1 node: [Node], sorted so that what is read was written before
 *            5 initializer: [Tensor]    15 sparse_initializer: [SparseTensor]
 *            11 input, 12 output, 13 value_info: [ValueInfo]
 * Node       1 input, 2 output: [string], empty if absent
 *            3 name   4 op_type   5 attribute: [Attribute]   7 domain
 * Attribute  1 name   3 i: int64   4 s: bytes   5 t: Tensor   6 g: Graph
 *            7 floats   8 ints   11 graphs: [Graph]   22 sparse_tensor
 * Tensor     1 dims   2 data_type   4 float_data   5 int32_data   7 int64_data
 *            8 name   9 raw_data, little-endian   14 data_location: 1 = in another file
 * Sparse     1 values: Tensor, whose name is the tensor's   3 dims
 * ValueInfo  1 name   2 type: Type
 * Type       1 tensor_type: {1 elem_type, 2 shape: {1 dim: [{1 dim_value, 2 dim_param}]}}
 * </pre>
 *
 * <p>Threading: immutable.
 */
final class OnnxSchema {

  static final int MODEL_IR_VERSION = 1;
  static final int MODEL_GRAPH = 7;
  static final int MODEL_OPSET_IMPORT = 8;
  static final int MODEL_FUNCTIONS = 25;
  static final int OPERATOR_SET_DOMAIN = 1;
  static final int OPERATOR_SET_VERSION = 2;
  static final int FUNCTION_NAME = 1;
  static final int FUNCTION_DOMAIN = 10;

  static final int GRAPH_NODE = 1;
  static final int GRAPH_INITIALIZER = 5;
  static final int GRAPH_INPUT = 11;
  static final int GRAPH_OUTPUT = 12;
  static final int GRAPH_VALUE_INFO = 13;
  static final int GRAPH_SPARSE_INITIALIZER = 15;

  static final int NODE_INPUT = 1;
  static final int NODE_OUTPUT = 2;
  static final int NODE_NAME = 3;
  static final int NODE_OP_TYPE = 4;
  static final int NODE_ATTRIBUTE = 5;
  static final int NODE_DOMAIN = 7;

  static final int ATTRIBUTE_NAME = 1;
  static final int ATTRIBUTE_FLOAT = 2;
  static final int ATTRIBUTE_INT = 3;
  static final int ATTRIBUTE_STRING = 4;
  static final int ATTRIBUTE_TENSOR = 5;
  static final int ATTRIBUTE_GRAPH = 6;
  static final int ATTRIBUTE_FLOATS = 7;
  static final int ATTRIBUTE_INTS = 8;
  static final int ATTRIBUTE_GRAPHS = 11;
  static final int ATTRIBUTE_SPARSE_TENSOR = 22;

  static final int TENSOR_DIMS = 1;
  static final int TENSOR_DATA_TYPE = 2;
  static final int TENSOR_FLOAT_DATA = 4;
  static final int TENSOR_INT32_DATA = 5;
  static final int TENSOR_INT64_DATA = 7;
  static final int TENSOR_NAME = 8;
  static final int TENSOR_RAW_DATA = 9;
  static final int TENSOR_DATA_LOCATION = 14;
  static final int EXTERNAL = 1;
  static final int SPARSE_VALUES = 1;
  static final int SPARSE_DIMS = 3;

  static final int VALUE_INFO_NAME = 1;
  static final int VALUE_INFO_TYPE = 2;
  static final int TYPE_TENSOR = 1;
  static final int TENSOR_TYPE_ELEMENT = 1;
  static final int TENSOR_TYPE_SHAPE = 2;
  static final int SHAPE_DIM = 1;
  static final int DIM_VALUE = 1;
  static final int DIM_PARAM = 2;

  private OnnxSchema() {}
}
