package io.prmalloc.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RecordingReaderTest {

  @TempDir private Path directory;

  private byte[] whole;
  private List<String> events;

  @BeforeEach
  void record() throws IOException {
    Path file = directory.resolve("whole");
    // A small bound makes small frames.
    RecordingOptions options = RecordingOptions.DEFAULT.withMaxBytes(4096);
    try (Recorder recorder = Recorder.start(file, options, () -> {})) {
      SplittableRandom random = new SplittableRandom(3);
      for (int i = 0; i < 200; i++) {
        long step = recorder.stepOpened();
        recorder.released(recorder.allocated(random.nextInt(1 << 20), 64));
        recorder.stepClosed(step);
      }
    }
    whole = Files.readAllBytes(file);
    events = Recordings.events(file);
    assertEquals(800, events.size());
    assertTrue(whole.length < 4096, whole.length + " bytes");
  }

  private Path write(byte[] bytes) throws IOException {
    return Files.write(directory.resolve("file"), bytes);
  }

  @Test
  void shouldReadUpToTheLastWholeFrameWhenTheFileIsCutOffAnywhere() throws IOException {
    int longest = 0;
    for (int length = RecordingFormat.HEADER_BYTES; length < whole.length; length++) {
      Path file = write(Arrays.copyOf(whole, length));
      List<String> read = Recordings.events(file);

      assertEquals(events.subList(0, read.size()), read, "cut off at " + length);
      assertTrue(read.size() >= longest, "cut off at " + length);
      String end = Recordings.end(file);
      assertTrue(end.startsWith("is cut off at byte ") || end.startsWith("has no end"), end);
      longest = read.size();
    }
    assertEquals(events.size(), longest, "all but the end");
  }

  @Test
  void shouldStopWhenAFrameIsDamagedAnywhere() throws IOException {
    SplittableRandom random = new SplittableRandom(4);
    for (int at = RecordingFormat.HEADER_BYTES; at < whole.length; at++) {
      byte[] damaged = whole.clone();
      damaged[at] ^= (byte) (1 << random.nextInt(8));
      Path file = write(damaged);

      List<String> read = Recordings.events(file);
      assertEquals(events.subList(0, read.size()), read, "damaged at " + at);
      assertTrue(Recordings.end(file).contains("at byte"), Recordings.end(file));
    }
  }

  @Test
  void shouldRefuseWhenTheHeaderIsDamagedAnywhere() throws IOException {
    for (int at = 0; at < RecordingFormat.HEADER_BYTES; at++) {
      byte[] damaged = whole.clone();
      damaged[at] ^= 1;
      Path file = write(damaged);
      assertThrows(RecordingFormatException.class, () -> RecordingReader.open(file), "at " + at);
    }
    for (int length = 0; length < RecordingFormat.HEADER_BYTES; length++) {
      Path file = write(Arrays.copyOf(whole, length));
      assertThrows(RecordingFormatException.class, () -> RecordingReader.open(file));
    }
  }

  /** A file of one frame with a right checksum. */
  private Path fileOf(String hex) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.write(whole, 0, RecordingFormat.HEADER_BYTES);
    String plain = hex.replace(" ", "");
    byte[] content = new byte[plain.length() / 2];
    for (int i = 0; i < content.length; i++) {
      content[i] = (byte) Integer.parseInt(plain.substring(2 * i, 2 * i + 2), 16);
    }
    CRC32C sum = new CRC32C();
    sum.update(content);
    bytes.write(
        ByteBuffer.allocate(8)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putInt(content.length)
            .putInt((int) sum.getValue())
            .array());
    bytes.write(content);
    return write(bytes.toByteArray());
  }

  @ParameterizedTest
  @CsvSource({
    // kind, first tick, count, micros, then events
    "01 01 01 00 00 07 05, begins with tick 1 instead of 0",
    "01 00 00 00, says it has 0 events",
    "01 00 FF FF FF FF 0F 00 00 07 05, says it has 4294967295 events in 3 bytes",
    "01 00 FF FF FF FF FF FF FF FF FF 01 00 00 07 05, says it has -1 events",
    "01 00 01 00 01 07 01, has event 0 with the value 1",
    "01 00 02 00 00 07 05 05 02, has event 1 with the value 2",
    "01 00 02 00 00 07 05 05 00, has event 1 with the value 0",
    "01 00 01 00 04 05, has event 0 without a thread",
    "01 00 01 00 F8 07 05, with an alignment of 2^31",
    "01 00 01 00 0A 07 05, with an alignment of 2^1",
    "01 00 01 00 00 07 05 00, has 1 bytes behind its events",
    "01 00 02 00 00 07 05, ends in the middle of an event",
    "01 00 01 00 00 07 80, ends in the middle of an event",
    "01 00 01 00 00 07 80 80 80 80 80 80 80 80 80 80 00, has a number of more than 64 bits",
    "01 00 02 00 02 07 05 06 05, opens step 5 a second time",
    "02 00 01 00 00, says there are 1 events",
    "02 09 00 00 00, gives no reason that is known",
    "02, gives no reason that is known"
  })
  void shouldRefuseWhenAFrameHoldsWhatCannotBe(String hex, String message) throws IOException {
    Path file = fileOf(hex);

    RecordingFormatException refused =
        assertThrows(RecordingFormatException.class, () -> Recordings.events(file));

    assertTrue(refused.getMessage().startsWith("the frame at byte 32 "), refused.getMessage());
    assertTrue(refused.getMessage().contains(message), refused.getMessage());
  }

  @Test
  void shouldPassOverFramesWhenTheirKindIsNotKnown() throws IOException {
    Path file = fileOf("07 01 02 03");
    assertEquals(List.of(), Recordings.events(file));
    assertEquals("has no end at byte 44", Recordings.end(file));
  }

  @ParameterizedTest
  @CsvSource({"FFFFFF7F", "00000000", "FFFFFFFF", "01001000"})
  void shouldAllocateNothingWhenAFrameSaysItIsHuge(String length) throws IOException {
    byte[] bytes = Arrays.copyOf(whole, 64);
    for (int i = 0; i < 4; i++) {
      bytes[32 + i] = (byte) Integer.parseInt(length.substring(2 * i, 2 * i + 2), 16);
    }
    assertTrue(Recordings.end(write(bytes)).startsWith("has a frame of "), length);
  }

  @Test
  void shouldKnowItsOwnWhenAskedForTheFormat() {
    assertTrue(RecordingReader.isRecording(whole));
    assertTrue(!RecordingReader.isRecording(Arrays.copyOf(whole, 7)));
    assertTrue(!RecordingReader.isRecording(new byte[100]));
  }

  @Test
  void shouldFollowStepsWhenTheyAreClosedByOthersAndOutOfOrder() {
    OpenSteps steps = new OpenSteps();
    assertEquals(-1, steps.stepOf(1));
    assertTrue(steps.open(10, 1, 0));
    assertTrue(steps.open(11, 1, 1));
    assertTrue(steps.open(12, 2, 2));
    assertEquals(11, steps.stepOf(1));
    assertEquals(12, steps.stepOf(3), "the newest");
    steps.close(11);
    assertEquals(10, steps.stepOf(1));
    steps.close(12);
    assertEquals(10, steps.stepOf(2), "the newest that is left");
    steps.close(99);
    steps.close(10);
    assertEquals(-1, steps.stepOf(1));
  }
}
