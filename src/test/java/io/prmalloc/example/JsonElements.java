package io.prmalloc.example;

import ai.onnxruntime.OnnxJavaType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.prmalloc.example.model.TensorBytes;
import java.nio.ByteBuffer;

/** Elements of tensors as JSON, both ways. Threading: any thread. */
final class JsonElements {

  /** The most characters of an element that a refusal shows. */
  private static final int MAX_SHOWN = 40;

  private JsonElements() {}

  /** Writes all elements, which may be nested in arrays as the shape is, or in one. */
  static void read(JsonNode data, TensorBytes tensor) throws Refusal {
    ByteBuffer target = tensor.bytes();
    read(data, tensor, target);
    if (target.hasRemaining()) {
      throw Refusal.badRequest(
          tensor + ": data has " + count(target.position(), tensor) + " elements, not as many");
    }
  }

  private static long count(int bytes, TensorBytes tensor) {
    return bytes / tensor.type().size;
  }

  private static void read(JsonNode data, TensorBytes tensor, ByteBuffer target) throws Refusal {
    if (data.isArray()) {
      for (JsonNode element : data) {
        read(element, tensor, target);
      }
    } else if (!target.hasRemaining()) {
      throw Refusal.badRequest(tensor + ": data has more elements than that");
    } else if (!put(data, tensor.type(), target)) {
      throw Refusal.badRequest(
          tensor + ": element " + count(target.position(), tensor) + " is " + shown(data));
    }
  }

  /** One that is too large may have a million digits. */
  private static String shown(JsonNode value) {
    String text = value.toString();
    return text.length() <= MAX_SHOWN ? text : text.substring(0, MAX_SHOWN) + "...";
  }

  private static boolean put(JsonNode value, OnnxJavaType type, ByteBuffer target) {
    switch (type) {
      case FLOAT -> target.putFloat((float) value.doubleValue());
      case DOUBLE -> target.putDouble(value.doubleValue());
      case INT64 -> target.putLong(value.longValue());
      case INT32 -> target.putInt(value.intValue());
      case INT16 -> target.putShort(value.shortValue());
      case INT8, UINT8 -> target.put((byte) value.intValue());
      case BOOL -> target.put((byte) (value.booleanValue() ? 1 : 0));
      default -> {
        return false;
      }
    }
    return fits(value, type);
  }

  private static boolean fits(JsonNode value, OnnxJavaType type) {
    return switch (type) {
      // JSON has numbers that are too large for either: as infinity they would be other numbers.
      case FLOAT -> value.isNumber() && Float.isFinite((float) value.doubleValue());
      case DOUBLE -> value.isNumber() && Double.isFinite(value.doubleValue());
      case BOOL -> value.isBoolean();
      case INT64 -> value.isIntegralNumber() && value.canConvertToLong();
      case INT32 -> isWithin(value, Integer.MIN_VALUE, Integer.MAX_VALUE);
      case INT16 -> isWithin(value, Short.MIN_VALUE, Short.MAX_VALUE);
      case INT8 -> isWithin(value, Byte.MIN_VALUE, Byte.MAX_VALUE);
      case UINT8 -> isWithin(value, 0, 255);
      default -> false;
    };
  }

  private static boolean isWithin(JsonNode value, long least, long most) {
    return value.isIntegralNumber()
        && value.canConvertToLong()
        && value.longValue() >= least
        && value.longValue() <= most;
  }

  /** Adds all elements to an array of JSON, one after the other. */
  static void write(TensorBytes tensor, ArrayNode data) {
    ByteBuffer source = tensor.bytes();
    while (source.hasRemaining()) {
      switch (tensor.type()) {
        case FLOAT -> data.add(source.getFloat());
        case DOUBLE -> data.add(source.getDouble());
        case INT64 -> data.add(source.getLong());
        case INT32 -> data.add(source.getInt());
        case INT16 -> data.add(source.getShort());
        case INT8 -> data.add(source.get());
        case UINT8 -> data.add(source.get() & 0xFF);
        case BOOL -> data.add(source.get() != 0);
        default -> throw new IllegalStateException(tensor + " cannot be JSON");
      }
    }
  }
}
