package io.prmalloc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.pool.TensorPoolAllocator;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AllocatorRegistryTest {

  @TempDir private Path directory;

  private final AllocatorRegistry registry = new AllocatorRegistry();

  @AfterEach
  void forgetTheProperty() {
    System.clearProperty(AllocatorRegistry.ALLOCATOR_PROP_NAME);
  }

  private static Allocator make() {
    return new CpuAllocator(SubAllocator.direct());
  }

  @Test
  void shouldPreferTheHighestPriorityWhenAskedForTheDefault() {
    registry.register("low", -5, AllocatorRegistryTest::make);
    assertSame(registry.allocator("low"), registry.allocator());
    registry.register("high", 10, AllocatorRegistryTest::make);
    registry.register("middle", 3, AllocatorRegistryTest::make);
    assertSame(registry.allocator("high"), registry.allocator());
    assertNotSame(registry.allocator("high"), registry.allocator("low"));
  }

  @Test
  void shouldPreferTheFirstRegisteredWhenPrioritiesAreEqual() {
    registry.register("first", 10, AllocatorRegistryTest::make);
    registry.register("second", 10, AllocatorRegistryTest::make);
    registry.register("third", 10, AllocatorRegistryTest::make);
    assertSame(registry.allocator("first"), registry.allocator());
  }

  @Test
  void shouldMeanTheHighestWhenSeveralHaveTheName() {
    List<Integer> made = new ArrayList<>();
    for (int priority : new int[] {1, 3, 2}) {
      registry.register(
          "same",
          priority,
          () -> {
            made.add(priority);
            return make();
          });
    }
    registry.allocator("same");
    assertEquals(List.of(3), made);
  }

  @Test
  void shouldRefuseWhenNameAndPriorityAreThereAlready() {
    registry.register("one", 1, AllocatorRegistryTest::make);
    registry.register("one", 2, AllocatorRegistryTest::make);
    registry.register("two", 1, AllocatorRegistryTest::make);
    assertEquals(
        "allocator one (priority 2) is registered already",
        assertThrows(
                IllegalArgumentException.class,
                () -> registry.register("one", 2, AllocatorRegistryTest::make))
            .getMessage());
    assertThrows(
        IllegalArgumentException.class,
        () -> registry.register(" ", 1, AllocatorRegistryTest::make));
    assertThrows(
        NullPointerException.class, () -> registry.register(null, 1, AllocatorRegistryTest::make));
    assertThrows(NullPointerException.class, () -> registry.register("x", 1, null));
  }

  @Test
  void shouldListThoseThereAreWhenTheNameIsUnknown() {
    assertEquals(
        "no allocator is named `cpu`; none is registered",
        assertThrows(IllegalArgumentException.class, () -> registry.allocator("cpu")).getMessage());
    assertEquals(
        "no default allocator; none is registered",
        assertThrows(IllegalStateException.class, registry::allocator).getMessage());
    registry.register("two", 20, AllocatorRegistryTest::make);
    registry.register("one", 10, AllocatorRegistryTest::make);
    assertEquals(
        "no allocator is named `cpu`; registered: one (priority 10), two (priority 20)",
        assertThrows(IllegalArgumentException.class, () -> registry.allocator("cpu")).getMessage());
  }

  @Test
  void shouldMakeEachOnceAndWhenFirstAskedForWhenManyThreadsAsk() throws Exception {
    AtomicInteger made = new AtomicInteger();
    registry.register(
        "one",
        1,
        () -> {
          made.incrementAndGet();
          return make();
        });
    assertEquals(0, made.get(), "not before it is asked for");
    Callable<Allocator> ask = registry::allocator;
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      Set<Allocator> seen = new HashSet<>();
      for (Future<Allocator> result : threads.invokeAll(List.of(ask, ask, ask, ask))) {
        seen.add(result.get());
      }
      assertEquals(1, seen.size());
      assertEquals(1, made.get());
    } finally {
      threads.shutdown();
    }
  }

  @Test
  void shouldSayWhichFactoryFailedAndTryAgainWhenAskedAgain() {
    List<Supplier<Allocator>> results =
        new ArrayList<>(
            List.of(
                () -> {
                  throw new UnsupportedOperationException("no such library");
                },
                () -> null,
                AllocatorRegistryTest::make));
    registry.register("fine", 1, AllocatorRegistryTest::make);
    registry.register("moody", 9, () -> results.remove(0).get());
    IllegalStateException failed = assertThrows(IllegalStateException.class, registry::allocator);
    assertEquals(
        "factory of allocator moody (priority 9) failed:"
            + " java.lang.UnsupportedOperationException: no such library",
        failed.getMessage());
    assertInstanceOf(UnsupportedOperationException.class, failed.getCause());
    assertEquals(
        "factory of allocator moody (priority 9) made nothing (null)",
        assertThrows(IllegalStateException.class, () -> registry.allocator("moody")).getMessage());
    assertSame(registry.allocator(), registry.allocator("moody"));
    registry.allocator("fine");
  }

  @Test
  void shouldLetAFactoryUseAnotherButNotItself() {
    registry.register("inner", 1, AllocatorRegistryTest::make);
    registry.register("outer", 2, () -> new AllocatorWrapper(registry.allocator("inner")));
    registry.register("self", 0, () -> new AllocatorWrapper(registry.allocator("self")));
    assertSame(
        registry.allocator("inner"),
        assertInstanceOf(AllocatorWrapper.class, registry.allocator()).wrapped());
    String message =
        assertThrows(IllegalStateException.class, () -> registry.allocator("self")).getMessage();
    assertTrue(message.contains("factory of allocator self (priority 0) asks for itself"), message);
  }

  @Test
  void shouldHoldThePoolAndThePlainOneWhenGlobal() {
    AllocatorRegistry global = AllocatorRegistry.global();
    assertSame(global, AllocatorRegistry.global());
    assertInstanceOf(TensorPoolAllocator.class, global.allocator());
    assertSame(global.allocator(), global.allocator("tensorpool_cpu"));
    assertInstanceOf(CpuAllocator.class, global.allocator("cpu"));
    try (Allocation allocation = global.allocator().allocate(100)) {
      allocation.byteBuffer().put(99, (byte) 1);
    }
    String message =
        assertThrows(IllegalArgumentException.class, () -> global.allocator("gpu")).getMessage();
    assertEquals(
        "no allocator is named `gpu`; registered: cpu (priority 100), tensorpool_cpu (priority"
            + " 300)",
        message);
  }

  @Test
  void shouldObeyThePropertyWhenGlobalAndNotWhenOnesOwn() {
    System.setProperty(AllocatorRegistry.ALLOCATOR_PROP_NAME, "cpu");
    AllocatorRegistry global = AllocatorRegistry.global();
    assertInstanceOf(CpuAllocator.class, global.allocator());
    assertInstanceOf(TensorPoolAllocator.class, global.allocator("tensorpool_cpu"));
    registry.register("cpu", 1, AllocatorRegistryTest::make);
    registry.register("other", 2, AllocatorRegistryTest::make);
    assertSame(registry.allocator("other"), registry.allocator());
    System.setProperty(AllocatorRegistry.ALLOCATOR_PROP_NAME, "gpu");
    assertEquals(
        "prmalloc.allocator=gpu names no allocator; registered: cpu (priority 100), tensorpool_cpu (priority 300)",
        assertThrows(IllegalStateException.class, global::allocator).getMessage());
  }

  @Test
  void shouldCloseWhatItMadeWhenClosed() {
    registry.register("first", 2, () -> new CpuAllocator(SubAllocator.direct()));
    registry.register("second", 1, () -> new CpuAllocator(SubAllocator.direct()));
    registry.register(
        "never",
        0,
        () -> {
          throw new AssertionError("made to be closed");
        });
    Allocator first = registry.allocator("first");
    Allocator second = registry.allocator("second");
    Allocation open = first.allocate(100);
    String message = assertThrows(IllegalStateException.class, registry::close).getMessage();
    assertEquals("allocator cpu still has 1 allocations of 100 bytes in use", message);
    assertThrows(IllegalStateException.class, () -> second.allocate(1));
    open.close();
    registry.close();
    registry.close();
    assertThrows(IllegalStateException.class, () -> first.allocate(1));
    assertEquals(
        "the registry is closed",
        assertThrows(IllegalStateException.class, registry::allocator).getMessage());
    assertThrows(IllegalStateException.class, () -> registry.allocator("first"));
    assertThrows(
        IllegalStateException.class,
        () -> registry.register("late", 1, AllocatorRegistryTest::make));
  }

  /** A provider as others write it. */
  public static final class OtherProvider implements AllocatorFactory {

    /** For the service loader. */
    public OtherProvider() {}

    @Override
    public String name() {
      return "other";
    }

    @Override
    public int priority() {
      return 1000;
    }

    @Override
    public Allocator create() {
      return make();
    }
  }

  /** A provider that takes a name that is taken. */
  public static final class ClashingProvider implements AllocatorFactory {

    /** For the service loader. */
    public ClashingProvider() {}

    @Override
    public String name() {
      return "cpu";
    }

    @Override
    public int priority() {
      return 100;
    }

    @Override
    public Allocator create() {
      throw new AssertionError("never asked for");
    }
  }

  private AllocatorRegistry load(String... providers) throws IOException {
    Path services = Files.createDirectories(directory.resolve("META-INF/services"));
    Files.write(services.resolve(AllocatorFactory.class.getName()), List.of(providers));
    try (URLClassLoader loader =
        new URLClassLoader(
            new URL[] {directory.toUri().toURL()}, AllocatorRegistry.class.getClassLoader())) {
      return AllocatorRegistry.load(loader);
    }
  }

  @Test
  void shouldHoldAnotherProviderToo() throws IOException {
    AllocatorRegistry loaded = load(OtherProvider.class.getName());
    assertSame(loaded.allocator("other"), loaded.allocator());
    assertInstanceOf(CpuAllocator.class, loaded.allocator("cpu"));
  }

  @Test
  void shouldHoldOursWhenTheThreadsLoaderSeesNone() {
    AllocatorRegistry loaded = AllocatorRegistry.load(ClassLoader.getPlatformClassLoader());
    assertInstanceOf(TensorPoolAllocator.class, loaded.allocator());
    AllocatorRegistry.load(null).allocator("cpu");
  }

  @Test
  void shouldSayWhichProviderIsBrokenWhenOneIs() {
    String message =
        assertThrows(IllegalStateException.class, () -> load("org.example.Missing")).getMessage();
    assertTrue(message.startsWith("an allocator provider cannot be loaded: "), message);
    assertTrue(message.contains("org.example.Missing"), message);
    assertEquals(
        "allocator provider io.prmalloc.AllocatorRegistryTest$ClashingProvider cannot be"
            + " registered: allocator cpu (priority 100) is registered already",
        assertThrows(IllegalStateException.class, () -> load(ClashingProvider.class.getName()))
            .getMessage());
  }

  @Test
  void shouldLeaveOutProvidersOfAnotherCopyOfTheLibrary() throws IOException {
    URL[] library = {
      AllocatorRegistry.class.getProtectionDomain().getCodeSource().getLocation(),
    };
    try (URLClassLoader copy = new URLClassLoader(library, ClassLoader.getPlatformClassLoader());
        AllocatorRegistry registry = AllocatorRegistry.load(copy)) {
      assertEquals("tensorpool_cpu", registry.allocator().name());
    }
  }
}
