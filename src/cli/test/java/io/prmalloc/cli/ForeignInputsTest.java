package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.prmalloc.SharedData;
import io.prmalloc.tflite.TfliteWriter;
import io.prmalloc.trace.ForeignTraces;
import io.prmalloc.trace.MobileNetGraphs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Traces of other tools as the input of every command. */
class ForeignInputsTest {

  @TempDir private Path directory;

  private String file(byte[] bytes) throws IOException {
    return Files.write(directory.resolve("input"), bytes).toString();
  }

  static Stream<Arguments> commandsAndTraces() {
    return Stream.of(
            "plan --strategy greedy-by-size --kind offsets --json",
            "simulate --json",
            "learn --steps 2 --json",
            "replay --steps 2 --settle 0 --warmup-steps 2 --touch none --api handle --allocator malloc --json")
        .flatMap(
            command ->
                Stream.of(
                        ForeignTraces.utf8(ForeignTraces.MALLOC),
                        ForeignTraces.idealloc(),
                        ForeignTraces.gzip(ForeignTraces.utf8(ForeignTraces.SNAPSHOT)))
                    .map(trace -> Arguments.of(command, trace)));
  }

  @ParameterizedTest
  @MethodSource("commandsAndTraces")
  void shouldReadWhenACommandTakesTraces(String command, byte[] trace) throws IOException {
    String[] words = (command + " " + file(trace)).split(" ", -1);
    Outcome outcome = Outcome.of(words);

    assertEquals(0, outcome.exitCode(), outcome.err());
    if (!command.startsWith("learn")) {
      assertTrue(
          new ObjectMapper().readTree(outcome.out()).get("lowerBoundBytes").asLong()
              >= ForeignTraces.LOAD_BYTES,
          outcome.out());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0|which releases and allocations were one reallocation",
        "1|threads, alignments, and which releases and allocations were one reallocation",
        "2|times, streams, segments and stack traces"
      })
  void shouldSayWhatIsLostWhenItIsConverted(int trace, String loss) throws IOException {
    String input =
        file(
            new byte[][] {
                  ForeignTraces.utf8(ForeignTraces.MALLOC),
                  ForeignTraces.idealloc(),
                  ForeignTraces.utf8(ForeignTraces.SNAPSHOT)
                }
                [trace]);
    Path out = directory.resolve("out");
    Outcome outcome = Outcome.of("convert", input, "--to", "events", "--out", out.toString());

    assertEquals(0, outcome.exitCode(), outcome.err());
    assertEquals("prmalloc: " + input + ": lost in events: " + loss + "\n", outcome.err());
    assertEquals(8, Files.readAllLines(out).size());
  }

  @ParameterizedTest
  @CsvSource({"malloc", "idealloc", "snapshot"})
  void shouldRefuseWhenTheFormatIsOnlyRead(String format) throws IOException {
    Path out = directory.resolve("out");
    Outcome outcome =
        Outcome.of("convert", "sample:mobilenet", "--to", format, "--out", out.toString());

    assertEquals(2, outcome.exitCode());
    assertEquals(
        "prmalloc: the format "
            + format
            + " is another program's and read only; events holds the same\n",
        outcome.err());
  }

  @Test
  void shouldReadTheDeviceThatIsSaid() throws IOException {
    String input = file(ForeignTraces.utf8(ForeignTraces.SNAPSHOT));

    assertEquals(0, Outcome.of("plan", input, "--device=1").exitCode());
    assertEquals(0, Outcome.of("simulate", input, "--device=1").exitCode());
    assertEquals(
        "prmalloc: --device 1 means nothing to a graph\n",
        Outcome.of("plan", input, "--device=1", "--subgraph=0").err());
    Outcome other = Outcome.of("plan", input, "--device=0");
    assertEquals(2, other.exitCode());
    assertTrue(other.err().contains("holds no history of device 0; torch.cuda"), other.err());
  }

  @Test
  void shouldReadModelsAndRecordingsWhenTheyAreCompressed() throws IOException {
    byte[] model = ForeignTraces.gzip(TfliteWriter.model(MobileNetGraphs.v2()));
    String packedModel = Files.write(directory.resolve("v2.tflite.gz"), model).toString();
    assertEquals(
        Outcome.of("arena", "sample:mobilenet-v2", "--json").out().length(),
        Outcome.of("arena", packedModel, "--json").out().length());
    assertEquals(0, Outcome.of("plan", packedModel, "--strategy=naive").exitCode());

    Path recording = directory.resolve("server.rec");
    assertEquals(
        0,
        Outcome.of(
                "convert", "sample:mobilenet", "--to", "recording", "--out", recording.toString())
            .exitCode());
    byte[] packed = ForeignTraces.gzip(Files.readAllBytes(recording));
    String input = file(packed);
    Outcome learnt = Outcome.of("learn", input, "--steps=2", "--json");
    assertEquals(0, learnt.exitCode(), learnt.err());
    assertEquals(
        Outcome.of("learn", recording.toString(), "--steps=2", "--json").out(), learnt.out());
    Outcome cut = Outcome.of("replay", file(Arrays.copyOf(packed, packed.length / 2)));
    assertEquals(2, cut.exitCode());
    assertEquals("prmalloc: " + input + ": is a gzip file that is cut off\n", cut.err());
  }

  @Test
  void shouldReplayAsItWasWhenARecordingIsCompressed() throws IOException {
    Path recording = directory.resolve("server.rec");
    Path events = directory.resolve("events");
    Files.writeString(events, "a x 100\na y 50\nf x 0\nf y 0\n");
    Outcome.of("convert", events.toString(), "--to", "recording", "--out", recording.toString());
    Outcome outcome =
        Outcome.of(
            "replay",
            file(ForeignTraces.gzip(Files.readAllBytes(recording))),
            "--allocator=malloc",
            "--touch=none",
            "--api=handle");

    assertEquals(0, outcome.exitCode(), outcome.err());
  }

  @ParameterizedTest
  @CsvSource({
    "comment, 2, 8",
    "hex, 1, 256",
    "semi, 1, 4",
    "tab, 1, 4",
    "case, 1, 4",
    "trailing, 1, 4"
  })
  void shouldReadTheSharedTables(String name, int tensors, long load) throws IOException {
    assertPlanned(SharedData.path("../cases/csv/" + name + ".csv"), tensors, load);
  }

  @Test
  void shouldReadTheSharedTableThatIsCompressed() throws IOException {
    assertPlanned(SharedData.path("../cases/csv/in.csv.gz"), 5, 12);
  }

  private static void assertPlanned(Path file, int tensors, long load) throws IOException {
    Outcome outcome =
        Outcome.of(
            "plan", file.toString(), "--strategy=greedy-by-size", "--kind=offsets", "--json");
    assertEquals(0, outcome.exitCode(), outcome.err());
    var report = new ObjectMapper().readTree(outcome.out());
    assertEquals(tensors, report.get("tensors").asInt());
    assertEquals(load, report.get("results").get(0).get("totalBytes").asLong());
  }
}
