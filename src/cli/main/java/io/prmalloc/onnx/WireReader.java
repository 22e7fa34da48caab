package io.prmalloc.onnx;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
import io.prmalloc.model.ModelFormatException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Walks through protobuf's wire format field by field, and knows where it is. What is passed over
 * is not read into memory.
 *
 * <p>Threading: one thread.
 */
final class WireReader {

  private static final int MAX_DEPTH = 100;

  /** Reads the field the reader stands at, or passes over it. */
  @FunctionalInterface
  interface Field {
    void read(int number) throws IOException;
  }

  private final String file;
  private final CodedInputStream in;
  private final StringBuilder place = new StringBuilder();
  private int depth;
  private int tag;

  WireReader(String file, InputStream in) {
    this.file = file;
    this.in = CodedInputStream.newInstance(in);
  }

  /**
   * Reads the message that is the whole file.
   *
   * @throws ModelFormatException if it is none, or ends in the middle
   * @throws UncheckedIOException if it cannot be read
   */
  void file(Field field) {
    try {
      fields(field);
    } catch (InvalidProtocolBufferException wrong) {
      throw error(
          "is cut short or damaged at byte " + in.getTotalBytesRead() + ": " + wrong.getMessage());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads the message the reader stands at, which errors call by this name; returns its place. */
  String message(String name, Field field) throws IOException {
    expect(WireFormat.WIRETYPE_LENGTH_DELIMITED);
    if (depth == MAX_DEPTH) {
      throw error("messages are nested more than " + MAX_DEPTH + " deep");
    }
    depth++;
    int outside = place.length();
    place.append(outside == 0 ? "" : ".").append(name);
    int limit = in.pushLimit(in.readRawVarint32());
    fields(field);
    if (in.getBytesUntilLimit() != 0) {
      throw error("is cut short: " + in.getBytesUntilLimit() + " bytes of it are missing");
    }
    in.popLimit(limit);
    String at = place();
    place.setLength(outside);
    depth--;
    return at;
  }

  private void fields(Field field) throws IOException {
    for (tag = in.readTag(); tag != 0; tag = in.readTag()) {
      field.read(WireFormat.getTagFieldNumber(tag));
    }
  }

  void skip() throws IOException {
    // Groups, which can be nested without end, are not in this format.
    int type = WireFormat.getTagWireType(tag);
    if (type == WireFormat.WIRETYPE_START_GROUP || type == WireFormat.WIRETYPE_END_GROUP) {
      throw error("field " + WireFormat.getTagFieldNumber(tag) + " is a group");
    }
    in.skipField(tag);
  }

  long whole() throws IOException {
    expect(WireFormat.WIRETYPE_VARINT);
    return in.readRawVarint64();
  }

  float fraction() throws IOException {
    expect(WireFormat.WIRETYPE_FIXED32);
    return in.readFloat();
  }

  String text() throws IOException {
    expect(WireFormat.WIRETYPE_LENGTH_DELIMITED);
    return new String(in.readByteArray(), StandardCharsets.UTF_8);
  }

  /**
   * Bytes, if they are not too many.
   *
   * @param most how many are read into memory
   * @param length gets how many there are, as its only element
   * @return null if they are more; they are passed over then
   */
  byte[] bytes(int most, long[] length) throws IOException {
    expect(WireFormat.WIRETYPE_LENGTH_DELIMITED);
    int size = in.readRawVarint32();
    length[0] = size;
    if (size >= 0 && size <= most) {
      return in.readRawBytes(size);
    }
    in.skipRawBytes(size);
    return null;
  }

  /** A repeated whole number, each one by itself or all of them in a row. */
  void wholes(List<Long> to) throws IOException {
    repeated(WireFormat.WIRETYPE_VARINT, in::readRawVarint64, to);
  }

  /** A repeated 32-bit fraction, each one by itself or all of them in a row. */
  void fractions(List<Float> to) throws IOException {
    repeated(WireFormat.WIRETYPE_FIXED32, in::readFloat, to);
  }

  @FunctionalInterface
  private interface Element<T> {
    T read() throws IOException;
  }

  private <T> void repeated(int wireType, Element<T> element, List<T> to) throws IOException {
    if (WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_LENGTH_DELIMITED) {
      int limit = in.pushLimit(in.readRawVarint32());
      while (in.getBytesUntilLimit() > 0) {
        keep(element.read(), to);
      }
      in.popLimit(limit);
    } else {
      expect(wireType);
      keep(element.read(), to);
    }
  }

  /** Of more than {@link Value#MAX_CONTENT} numbers, one more than that is kept. */
  private static <T> void keep(T element, List<T> to) {
    if (to.size() <= Value.MAX_CONTENT) {
      to.add(element);
    }
  }

  private void expect(int wireType) {
    if (WireFormat.getTagWireType(tag) != wireType) {
      throw error(
          "field "
              + WireFormat.getTagFieldNumber(tag)
              + " has wire type "
              + WireFormat.getTagWireType(tag)
              + " instead of "
              + wireType);
    }
  }

  /** Where the reader is: {@code graph.node[3]}; empty outside. */
  String place() {
    return place.toString();
  }

  /** An error where the reader is. */
  ModelFormatException error(String what) {
    return new ModelFormatException(file, place(), what);
  }
}
