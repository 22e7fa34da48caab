package io.prmalloc.jmh.engine;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.management.OperatingSystemMXBean;
import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.internal.os.ResidentPeak;
import io.prmalloc.onnxruntime.EngineRun;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The process of an arm: runs the models once through, and prints a {@link Measured} as one line of
 * JSON. Ends with {@value #USAGE_ERROR} and a line that says why where a model does not fit its
 * arguments.
 *
 * <p>Threading: one thread, which starts those that run.
 */
public final class ArmMain {

  /** The exit code where an argument was not right. */
  static final int USAGE_ERROR = 2;

  private static final double MEBIBYTE = 1 << 20;

  /** In which what the collector and the JIT left to do is done. */
  private static final int SETTLE_MILLIS = 300;

  private final Workload workload;
  private final OrtEnvironment environment = OrtEnvironment.getEnvironment();
  private final ArmMemory memory;
  private final List<OpenModel> models = new ArrayList<>();
  private final int[] order;
  private final long[] nanos;
  private final Outputs outputs;
  private final AtomicInteger next = new AtomicInteger();

  /** Processor time for the digests, which is not the engine's. */
  private final AtomicLong digestNanos = new AtomicLong();

  private ArmMain(Workload workload, ArmMemory memory) {
    this.workload = workload;
    this.memory = memory;
    this.order = workload.drawOrder();
    this.nanos = new long[workload.runs()];
    this.outputs = new Outputs(workload.models().size() * workload.shapes());
  }

  /**
   * Measures an arm.
   *
   * <p>Threading: one thread.
   *
   * @param args a name of {@link Arm}, and the arguments of a {@link Workload}
   */
  public static void main(String[] args) throws IOException {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    try {
      Workload.Arguments arguments = new Workload.Arguments();
      Iterator<String> rest = Arrays.asList(args).subList(1, args.length).iterator();
      while (rest.hasNext()) {
        arguments.set(rest.next(), rest.next());
      }
      Measured measured = measure(Arm.valueOf(args[0]), arguments.build());
      out.println(new ObjectMapper().writeValueAsString(measured));
    } catch (IllegalArgumentException notRight) {
      out.println(notRight.getMessage());
      System.exit(USAGE_ERROR);
    } catch (OrtException | UnsupportedOperationException failure) {
      out.println(failure.getMessage());
      System.exit(1);
    }
  }

  private static Measured measure(Arm arm, Workload workload) throws OrtException {
    OrtEnvironment environment = OrtEnvironment.getEnvironment();
    try (ArmMemory memory = new ArmMemory(arm, workload.memory(), environment)) {
      ArmMain main = new ArmMain(workload, memory);
      try {
        main.open();
        return main.measure();
      } finally {
        for (OpenModel model : main.models) {
          model.session().close();
        }
      }
    }
  }

  private void open() throws OrtException {
    List<List<Map<String, long[]>>> shapes = workload.drawShapes();
    for (int i = 0; i < shapes.size(); i++) {
      String file = workload.models().get(i).file().toString();
      OrtSession session = memory.createSession(file, workload.engineThreads());
      models.add(new OpenModel(session, file, shapes.get(i)));
    }
  }

  private Measured measure() throws OrtException {
    OperatingSystemMXBean process =
        ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    // What is asked below is asked once before, so that its classes do not count as memory.
    OperatingSystem.processMinorFaults();
    ResidentPeak.bytes();
    System.gc();
    settle();
    long before = OperatingSystem.residentBytes();
    ResidentPeak.reset();
    long calls = memory.calls();
    long faults = OperatingSystem.processMinorFaults();
    long cpuNanos = process.getProcessCpuTime();
    runAll();
    cpuNanos = process.getProcessCpuTime() - cpuNanos - digestNanos.get();
    faults = OperatingSystem.processMinorFaults() - faults;
    long after = OperatingSystem.residentBytes();
    // The kernel's two counts lag behind by a few pages each.
    long peak = Math.max(ResidentPeak.bytes(), after);
    double runs = workload.runs();
    Arrays.sort(nanos);
    return new Measured(
        (after - before) / MEBIBYTE,
        (peak - before) / MEBIBYTE,
        cpuNanos / 1e3 / runs,
        nanos[nanos.length / 2] / 1e6,
        nanos[(int) (nanos.length * 99L / 100)] / 1e6,
        faults / runs,
        (memory.calls() - calls) / runs,
        outputs.digest(),
        outputs.differing(),
        environment.getVersion());
  }

  private static void settle() {
    try {
      Thread.sleep(SETTLE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void runAll() throws OrtException {
    ExecutorService threads = Executors.newFixedThreadPool(workload.threads());
    try {
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < workload.threads(); i++) {
        all.add(threads.submit(this::runSome));
      }
      for (Future<?> each : all) {
        each.get();
      }
    } catch (ExecutionException e) {
      if (e.getCause() instanceof OrtException failure) {
        throw failure;
      }
      if (e.getCause() instanceof IllegalArgumentException failure) {
        throw failure;
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    } finally {
      // None goes on where another failed.
      next.set(workload.runs());
      threads.shutdown();
    }
  }

  private Void runSome() throws OrtException {
    for (int i = next.getAndIncrement(); i < workload.runs(); i = next.getAndIncrement()) {
      int model = i % models.size();
      long start = System.nanoTime();
      long looked = run(models.get(model), model * workload.shapes(), order[i]);
      nanos[i] = System.nanoTime() - start - looked;
    }
    return null;
  }

  /** Runs a model once; for how many nanoseconds the outputs were looked at. */
  private long run(OpenModel model, int firstShape, int shape) throws OrtException {
    Map<String, OnnxTensor> inputs = model.inputs(environment, shape);
    try (EngineRun run = memory.openRun(model.name());
        OrtSession.Result result =
            run == null
                ? model.session().run(inputs)
                : model.session().run(inputs, run.options())) {
      if (run != null) {
        run.check();
      }
      long start = System.nanoTime();
      long cpu = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
      outputs.add(firstShape + shape, result);
      digestNanos.addAndGet(ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - cpu);
      return System.nanoTime() - start;
    } finally {
      inputs.values().forEach(OnnxTensor::close);
    }
  }
}
