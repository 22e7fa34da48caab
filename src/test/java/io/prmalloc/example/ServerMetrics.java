package io.prmalloc.example;

import com.sun.management.OperatingSystemMXBean;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.internal.os.ResourceUsage;
import io.prmalloc.micrometer.PrmallocMetrics;
import io.prmalloc.pool.TensorPoolAllocator;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * What the server counts, and its page in Prometheus's text format.
 *
 * <p>Threading: any thread.
 */
final class ServerMetrics {

  /** Upper bounds of the buckets of request times, in seconds. */
  private static final double[] BOUNDS = {
    0.000_5, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5
  };

  private static final int CLASSES = 6;

  private final AtomicLongArray byStatusClass = new AtomicLongArray(CLASSES);
  private final AtomicLongArray buckets = new AtomicLongArray(BOUNDS.length + 1);
  private final LongAdder totalNanos = new LongAdder();
  private final LongAdder inferences = new LongAdder();

  /** The library's own meters of each pool, as Micrometer shows them everywhere. */
  private final PrometheusMeterRegistry pools =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

  /** Shows a pool whose engine, if it has one, is attached. */
  void show(TensorPoolAllocator pool, String name) {
    new PrmallocMetrics(pool, name).bindTo(pools);
  }

  void countResponse(int status) {
    byStatusClass.incrementAndGet(Math.min(status / 100, CLASSES - 1));
  }

  /** Counts an inference, from the request's head to its answer on the way. */
  void countInference(long nanos) {
    int bucket = 0;
    while (bucket < BOUNDS.length && nanos > BOUNDS[bucket] * 1e9) {
      bucket++;
    }
    buckets.incrementAndGet(bucket);
    totalNanos.add(nanos);
    inferences.increment();
  }

  String page(ServerMemory memory, int inFlight) {
    StringBuilder page = new StringBuilder(4096);
    type(page, "inference_responses_total", "counter", "Responses by class of status.");
    for (int i = 2; i < CLASSES; i++) {
      sample(page, "inference_responses_total{code=\"" + i + "xx\"}", byStatusClass.get(i));
    }
    type(page, "inference_seconds", "histogram", "From a request's head to its answer.");
    long sum = 0;
    for (int i = 0; i <= BOUNDS.length; i++) {
      sum += buckets.get(i);
      String bound = i < BOUNDS.length ? Double.toString(BOUNDS[i]) : "+Inf";
      sample(page, "inference_seconds_bucket{le=\"" + bound + "\"}", sum);
    }
    sample(page, "inference_seconds_sum", totalNanos.sum() / 1e9);
    sample(page, "inference_seconds_count", inferences.sum());
    gauge(page, "inference_requests_in_flight", "Requests begun and not answered.", inFlight);
    memory(page, memory);
    process(page);
    return page.append(pools.scrape()).toString();
  }

  private static void memory(StringBuilder page, ServerMemory memory) {
    gauge(
        page, "tensor_bytes_in_use", "Bytes of tensors that are allocated.", memory.tensorBytes());
    gauge(
        page,
        "request_bytes_in_use",
        "Bytes that hold what has come of requests that do not run yet.",
        memory.bufferedBytes());
    if (memory.buffers() instanceof ByteBufAllocatorMetricProvider netty) {
      gauge(
          page,
          "network_direct_bytes",
          "Direct memory of the network's buffers, as their allocator counts.",
          netty.metric().usedDirectMemory());
    }
  }

  private static void process(StringBuilder page) {
    ResourceUsage usage = OperatingSystem.processUsage();
    gauge(
        page,
        "process_resident_memory_bytes",
        "Memory of the process.",
        OperatingSystem.residentBytes());
    gauge(
        page,
        "process_resident_peak_bytes",
        "The most memory the process ever had.",
        usage.peakResidentBytes());
    counter(page, "process_minor_faults_total", "Minor page faults.", usage.minorFaults());
    counter(page, "process_major_faults_total", "Major page faults.", usage.majorFaults());
    if (ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system) {
      type(page, "process_cpu_seconds_total", "counter", "Time of all processors.");
      sample(page, "process_cpu_seconds_total", system.getProcessCpuTime() / 1e9);
    }
    long collections = 0;
    long millis = 0;
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      collections += collector.getCollectionCount();
      millis += collector.getCollectionTime();
    }
    counter(page, "jvm_gc_collections_total", "Collections of the heap.", collections);
    type(page, "jvm_gc_seconds_total", "counter", "Time of collections.");
    sample(page, "jvm_gc_seconds_total", millis / 1e3);
  }

  private static void gauge(StringBuilder page, String name, String help, long value) {
    type(page, name, "gauge", help);
    sample(page, name, value);
  }

  private static void counter(StringBuilder page, String name, String help, long value) {
    type(page, name, "counter", help);
    sample(page, name, value);
  }

  private static void type(StringBuilder page, String name, String type, String help) {
    page.append("# HELP ").append(name).append(' ').append(help).append('\n');
    page.append("# TYPE ").append(name).append(' ').append(type).append('\n');
  }

  private static void sample(StringBuilder page, String name, long value) {
    page.append(name).append(' ').append(value).append('\n');
  }

  private static void sample(StringBuilder page, String name, double value) {
    page.append(name).append(' ').append(String.format(Locale.ROOT, "%.9f", value)).append('\n');
  }
}
