package io.prmalloc.example.client;

import io.prmalloc.example.client.LoadClient.Answer;
import io.prmalloc.example.model.ShapeRange;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.zip.CRC32;

/**
 * Requests whose shapes are random from a seed: the same shape for a request of the same number.
 * Every answer is compared with the first of its shape, whichever server gave it.
 *
 * <p>Threading: any thread.
 */
public final class ShapedLoad implements LoadRun.Traffic {

  private final String model;
  private final List<ShapeRange> ranges;
  private final long seed;

  /** Of the largest input; smaller ones have the first of them. Not written. */
  private final byte[] elements;

  /** Checksums of the first answers. */
  private final Map<String, Long> expected;

  public ShapedLoad(String model, List<ShapeRange> ranges, long seed) {
    this(model, ranges, seed, elements(ranges), new ConcurrentHashMap<>());
  }

  private ShapedLoad(
      String model,
      List<ShapeRange> ranges,
      long seed,
      byte[] elements,
      Map<String, Long> expected) {
    this.model = model;
    this.ranges = List.copyOf(ranges);
    this.seed = seed;
    this.elements = elements;
    this.expected = expected;
  }

  private static byte[] elements(List<ShapeRange> ranges) {
    long most = ranges.stream().mapToLong(ShapeRange::largestBytes).max().orElseThrow();
    ByteBuffer floats = ByteBuffer.allocate(Math.toIntExact(most)).order(ByteOrder.LITTLE_ENDIAN);
    Random random = new Random(1);
    while (floats.hasRemaining()) {
      floats.putFloat(random.nextFloat());
    }
    return floats.array();
  }

  /** Other shapes, compared with the same answers. */
  public ShapedLoad withSeed(long other) {
    return new ShapedLoad(model, ranges, other, elements, expected);
  }

  /** The shapes of a request's inputs. */
  private List<long[]> shapes(long number) {
    SplittableRandom random = new SplittableRandom(seed + number);
    return ranges.stream().map(range -> range.random(random)).toList();
  }

  @Override
  public Answer exchange(LoadClient client, long number) throws IOException {
    List<long[]> shapes = shapes(number);
    List<String> inputs = new ArrayList<>();
    long bytes = 0;
    for (int i = 0; i < ranges.size(); i++) {
      long size = ShapeRange.bytes(shapes.get(i));
      bytes += size;
      inputs.add(
          "{\"name\":\""
              + ranges.get(i).input()
              + "\",\"shape\":"
              + Arrays.toString(shapes.get(i))
              + ",\"datatype\":\"FP32\",\"parameters\":{\"binary_data_size\":"
              + size
              + "}}");
    }
    String json =
        "{\"inputs\":"
            + inputs.stream().collect(Collectors.joining(",", "[", "]"))
            + ",\"parameters\":{\"binary_data_output\":true}}";
    client.write(LoadClient.head(model, json, bytes));
    for (long[] shape : shapes) {
      client.write(elements, (int) ShapeRange.bytes(shape));
    }
    return client.read();
  }

  @Override
  public void check(long number, Answer answer) throws IOException {
    CRC32 sum = new CRC32();
    sum.update(LoadRun.elements(answer));
    String shapes = shapes(number).stream().map(Arrays::toString).collect(Collectors.joining());
    Long first = expected.putIfAbsent(shapes, sum.getValue());
    if (first != null && first != sum.getValue()) {
      throw new IOException("an answer to " + shapes + " has other elements than the first");
    }
  }
}
