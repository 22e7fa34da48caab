package io.prmalloc.jmh.engine;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtSession;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OpenModelTest {

  @TempDir private Path directory;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "left=1x4x4 | --shape is not there for `right`",
        "left=2x4x4 | --shape has [2, 4, 4] for `left`",
        "left=1x4 | --shape has [1, 4] for `left`",
        "middle=1x4x4 | --shape has `middle`, which is no input",
        "left=1x65536x65536 right=1x1x1 | --shape has [1, 65536, 65536] for `left`",
      })
  void shouldSayWhichShapeItRefuses(String shapes, String part) throws Exception {
    String file = TinyModel.write(directory.resolve("tiny.onnx")).toString();
    Workload.Arguments arguments = new Workload.Arguments();
    arguments.set("--model", file);
    for (String shape : shapes.split(" ", -1)) {
      arguments.set("--shape", shape);
    }
    Workload workload = arguments.build();
    try (OrtSession.SessionOptions options = new OrtSession.SessionOptions();
        OrtSession session = OrtEnvironment.getEnvironment().createSession(file, options)) {
      String message =
          assertThrows(
                  IllegalArgumentException.class,
                  () -> new OpenModel(session, file, workload.drawShapes().get(0)))
              .getMessage();
      assertTrue(message.contains(part), message);
    }
  }
}
