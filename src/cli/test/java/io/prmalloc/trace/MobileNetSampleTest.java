package io.prmalloc.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MobileNetSampleTest {

  @Test
  void shouldBeTheBundledFileWhenGenerated() {
    String bundled = new String(Samples.bytes(Samples.MOBILENET), StandardCharsets.UTF_8);

    assertEquals(bundled, EventsReader.write(MobileNetSample.generate()));
  }

  @Test
  void shouldHaveThePublishedShapesWhenGenerated() {
    Map<String, Long> sizes = new HashMap<>();
    Trace trace = MobileNetSample.generate();
    for (int t = 0; t < trace.tensorCount(); t++) {
      sizes.put(trace.id(t), trace.sizeBytes(t));
    }

    assertEquals(8L * 112 * 112 * 32 * 4, sizes.get("conv1/output"));
    assertEquals(8L * 112 * 112 * 64 * 4, sizes.get("pw1/output"));
    assertEquals(8L * 113 * 113 * 64 * 4, sizes.get("dw2/padded"));
    assertEquals(8L * 56 * 56 * 64 * 4, sizes.get("dw2/output"));
    assertEquals(8L * 7 * 7 * 1024 * 4, sizes.get("pw13/output"));
    assertEquals(8L * 1024 * 4, sizes.get("pool/output"));
    assertEquals(8L * 1000 * 4, sizes.get("softmax/output"));
    assertEquals(51_841_024, trace.loadBytes());
    assertTrue(java.util.Arrays.stream(trace.sizesBytes()).allMatch(bytes -> bytes > 0));
  }

  @Test
  void shouldReadTheSampleWhenAskedForByName() {
    Trace trace = new TraceInput("sample:mobilenet", null, null).read();

    assertEquals("sample:mobilenet", trace.name());
    assertEquals(MobileNetSample.generate().loadBytes(), trace.loadBytes());
  }

  @Test
  void shouldRefuseWhenThereIsNoSuchSample() {
    IllegalArgumentException wrong =
        assertThrows(
            IllegalArgumentException.class, () -> new TraceInput("sample:x", null, null).read());

    assertEquals(
        "sample:x is not there; there are sample:mobilenet, sample:mobilenet-v1 and"
            + " sample:mobilenet-v2",
        wrong.getMessage());
  }

  @Test
  void shouldRefuseWhenASampleIsGivenABatch() {
    IllegalArgumentException wrong =
        assertThrows(
            IllegalArgumentException.class,
            () -> new TraceInput("sample:mobilenet", null, 2).read());

    assertEquals("sample:mobilenet takes no --format, --batch or --device", wrong.getMessage());
  }
}
