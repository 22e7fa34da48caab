package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.recording.Recordings;
import io.prmalloc.tflite.TfliteWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("jdk-independent")
class ConvertCommandTest {

  private static final String EVENTS = "a x 100\na y 50\nf x 0\na x 70\nf y 0\nf x 0\n";

  @TempDir private Path directory;

  private Path file(String name, String text) throws IOException {
    return Files.writeString(directory.resolve(name), text);
  }

  private Outcome convert(Path input, String target, Path out, String... more) {
    String[] args = {"convert", input.toString(), "--to", target, "--out", out.toString()};
    String[] all = Arrays.copyOf(args, args.length + more.length);
    System.arraycopy(more, 0, all, args.length, more.length);
    return Outcome.of(all);
  }

  private Path converted(Path input, String target, String... losses) {
    Path out = directory.resolve(input.getFileName() + "." + target);
    Outcome outcome = convert(input, target, out);
    assertEquals(0, outcome.exitCode(), outcome.err());
    assertEquals("", outcome.out());
    List<String> said = outcome.err().lines().toList();
    assertEquals(losses.length, said.size(), outcome.err());
    for (int i = 0; i < losses.length; i++) {
      assertEquals("prmalloc: " + input + ": lost in " + target + ": " + losses[i], said.get(i));
    }
    return out;
  }

  private static final String TASKS = "the numbers of the tasks: only their order is kept";
  private static final String IDS = "ids: a recording numbers its allocations";
  private static final String AGAIN =
      "ids that come again: each but the first has #2 and so on behind it";

  @Test
  void shouldKeepEveryEventWhenEventsBecomeARecordingAndBack() throws IOException {
    Path events = file("events", EVENTS);
    Path recording = converted(events, "recording", IDS);
    assertEquals(
        List.of("a 0 100 1 -1", "a 1 50 1 -1", "f 0 -1", "a 3 70 1 -1", "f 1 -1", "f 3 -1"),
        Recordings.events(recording));

    Path back = converted(recording, "events", "threads, alignments, steps and times");
    assertEquals("a 0 100\na 1 50\nf 0 0\na 3 70\nf 1 0\nf 3 0\n", Files.readString(back));
    assertEquals(EVENTS, Files.readString(converted(events, "events")));
  }

  @Test
  void shouldKeepLivesWhenEventsBecomeATable() throws IOException {
    Path events = file("events", EVENTS);
    String lifetimes = "id,lower,upper,size\nx,0,2,100\ny,1,4,50\nx#2,3,5,70\n";
    String records = "id,size,first,last\nx,100,0,1\ny,50,1,3\nx#2,70,3,4\n";

    Path table = converted(events, "lifetimes", AGAIN);
    assertEquals(lifetimes, Files.readString(table));
    assertEquals(records, Files.readString(converted(events, "records", AGAIN)));
    Path same = converted(table, "records");
    assertEquals(records, Files.readString(same));
    assertEquals(lifetimes, Files.readString(converted(same, "lifetimes")));
  }

  @Test
  void shouldSayWhatIsLostWhenATableHasMoreColumns() throws IOException {
    Path table = file("table", "id,size,first,last,name,color\na,5,0,1,conv,red\n");

    assertEquals(
        "a a 5\nf a 0\n",
        Files.readString(converted(table, "events", "the columns name, color", TASKS)));
    assertEquals(
        "id,size,first,last\na,5,0,1\n",
        Files.readString(converted(table, "records", "the columns name, color")));
  }

  @Test
  void shouldKeepConstraintsWhenATableBecomesATable() throws IOException {
    String lifetimes =
        """
        id,lower,upper,size,alignment,offset,hint,gaps,uses
        a,0,10,8,4,,16,2-8@0:4 9-10,7
        b,2,8,4,,12,,,2
        """;
    String records =
        """
        id,size,first,last,alignment,offset,hint,gaps,uses
        a,8,0,9,4,,16,2-7@0:4 9-9,7
        b,4,2,7,,12,,,2
        """;
    Path table = file("table", lifetimes);

    assertEquals(lifetimes, Files.readString(converted(table, "lifetimes")));
    Path same = converted(table, "records");
    assertEquals(records, Files.readString(same));
    assertEquals(lifetimes, Files.readString(converted(same, "lifetimes")));
    converted(table, "events", "the columns alignment, offset, hint, gaps, uses", TASKS);

    Path ends =
        file("ends", "buffer,start,end,size,gaps,hint\na,0,9,8,2-7@0:4 9-9,-1\nb,2,7,4,,\n");
    assertEquals(
        "id,lower,upper,size,gaps\na,0,10,8,2-8@0:4 9-10\nb,2,8,4,\n",
        Files.readString(converted(ends, "lifetimes")));
  }

  @Test
  void shouldKeepFixedOffsetsAndWarnWhenAModelIsConverted() throws IOException {
    Path kept = Files.write(directory.resolve("kept.tflite"), TfliteWriter.offline(64, 0));
    String graph = "the graph's nodes, and tensors that are in no arena";
    String table = Files.readString(converted(kept, "lifetimes", graph));
    assertTrue(table.startsWith("id,lower,upper,size,offset,uses\n0,0,1,64,64,"), table);
    converted(kept, "events", graph + ", and fixed offsets", TASKS);

    Path open = Files.write(directory.resolve("open.tflite"), TfliteWriter.open());
    Outcome warned = convert(open, "lifetimes", directory.resolve("open.csv"));
    assertEquals(0, warned.exitCode(), warned.err());
    assertTrue(warned.err().contains("warning: " + open + ": input 0"), warned.err());
  }

  @Test
  void shouldRefuseWithoutForceWhenShapesWouldBecomeBytes() throws IOException {
    Path table = file("table", "id,size,first,last\na,2x8,0,1\n");
    Path out = directory.resolve("out");
    Outcome refused = convert(table, "events", out);

    assertEquals(1, refused.exitCode());
    assertTrue(refused.err().contains("shapes: sizes become"), refused.err());
    assertTrue(refused.err().contains("--force writes it"), refused.err());
    assertTrue(Files.notExists(out));
    assertEquals(0, convert(table, "events", out, "--force").exitCode());
    assertEquals("a a 16\nf a 0\n", Files.readString(out));
    assertEquals(Files.readString(table), Files.readString(converted(table, "records")));
  }

  @Test
  void shouldRefuseWithoutForceWhenARecordingIsCutOff() throws IOException {
    Path whole = converted(file("events", EVENTS), "recording", IDS);
    byte[] bytes = Files.readAllBytes(whole);
    Path cut = Files.write(directory.resolve("cut"), Arrays.copyOf(bytes, bytes.length - 1));
    Path out = directory.resolve("out");
    Outcome refused = convert(cut, "events", out);

    assertEquals(1, refused.exitCode());
    assertTrue(refused.err().contains("is cut off at byte "), refused.err());
    assertEquals(0, convert(cut, "events", out, "--force").exitCode());
    assertTrue(Files.readString(out).startsWith("a 0 100\n"));
  }

  @ParameterizedTest
  @CsvSource({"mnn", "graph"})
  void shouldRefuseWhenTheTargetHasOperators(String target) throws IOException {
    Path out = directory.resolve("out");
    Outcome refused = convert(file("events", EVENTS), target, out);

    assertEquals(2, refused.exitCode());
    assertTrue(refused.err().contains("it is read only"), refused.err());
    assertTrue(Files.notExists(out));
  }

  @Test
  void shouldRefuseWhenAnIdHoldsABlankThatEventsCannot() throws IOException {
    Path table = file("table", "id,size,first,last\n\"a b\",5,0,1\n");
    Outcome refused = convert(table, "events", directory.resolve("out"));

    assertEquals(2, refused.exitCode());
    assertTrue(refused.err().contains("the id `a b` holds a blank"), refused.err());
  }

  @ParameterizedTest
  @CsvSource({"events", "lifetimes", "records", "recording"})
  void shouldPlanTheSameWhenTheSampleIsConverted(String target) {
    Path out = directory.resolve("out");
    Outcome outcome =
        Outcome.of("convert", "sample:mobilenet", "--to", target, "--out", out.toString());
    assertEquals(0, outcome.exitCode(), outcome.err());
    Outcome learnt = Outcome.of("learn", out.toString(), "--steps", "3", "--json");

    assertEquals(0, learnt.exitCode(), learnt.err());
    assertEquals(
        Outcome.of("learn", "sample:mobilenet", "--steps", "3", "--json").out(), learnt.out());
  }

  @ParameterizedTest
  @CsvSource({
    "replay --steps 3 --warmup-steps 3 --touch none --api handle",
    "plan --strategy greedy-by-size",
    "learn --steps 2",
    "simulate"
  })
  void shouldReadARecordingWhenItIsGivenToACommand(String command) throws IOException {
    Path recording = converted(file("events", EVENTS), "recording", IDS);
    String[] words = (command + " " + recording).split(" ", -1);
    Outcome outcome = Outcome.of(words);
    assertEquals(0, outcome.exitCode(), outcome.err());
  }
}
