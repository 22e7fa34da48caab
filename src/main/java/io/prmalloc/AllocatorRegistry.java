package io.prmalloc;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Allocators by name, the one with the highest priority being the default. Each is made when it is
 * first asked for and then kept.
 *
 * <pre>{@code
 * Allocator allocator = AllocatorRegistry.global().allocator();
 * }</pre>
 *
 * <p>The {@link #global} registry holds what {@link ServiceLoader} finds: {@code tensorpool_cpu}
 * (priority 300, the default), {@code cpu} (100), and those of other providers. The system property
 * {@value #ALLOCATOR_PROP_NAME} makes another one the default. Registries of one's own begin empty,
 * and no property has an effect on them.
 *
 * <p>Modelled on TensorFlow's {@code AllocatorFactoryRegistry}.
 *
 * <p>Threading: any thread.
 */
public final class AllocatorRegistry implements AutoCloseable {

  // Under one lock, factories included: they are called once each. The lock is reentrant, so a
  // factory may ask for the allocator it wraps; one that asks for its own would do so for ever and
  // is told.

  /** Name of the system property with the name of the global registry's default allocator. */
  public static final String ALLOCATOR_PROP_NAME = "prmalloc.allocator";

  private static AllocatorRegistry global;

  private static final class Entry {
    final String name;
    final int priority;
    final Supplier<? extends Allocator> factory;
    Allocator made;
    boolean beingMade;

    Entry(String name, int priority, Supplier<? extends Allocator> factory) {
      this.name = name;
      this.priority = priority;
      this.factory = factory;
    }

    @Override
    public String toString() {
      return name + " (priority " + priority + ")";
    }
  }

  private final List<Entry> entries = new ArrayList<>();

  /** Those whose allocators are made, in that order. Under the lock of the entries. */
  private final List<Entry> made = new ArrayList<>();

  private boolean closed;
  private final Supplier<String> override;

  /** An empty registry. Threading: any thread. */
  public AllocatorRegistry() {
    this(() -> null);
  }

  /**
   * @param override gives the name of the default allocator, or null for the one with the highest
   *     priority
   */
  AllocatorRegistry(Supplier<String> override) {
    this.override = override;
  }

  /**
   * The process's registry, filled at the first call. Its allocators are shared: do not close them.
   * {@link Prmalloc#shutdown} does, and the next call makes another registry.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException if a provider cannot be loaded or two register the same; the next
   *     call tries again
   */
  public static synchronized AllocatorRegistry global() {
    if (global == null) {
      global = load(Thread.currentThread().getContextClassLoader());
    }
    return global;
  }

  /** Closes the global registry, if there is one. */
  static void closeGlobal() {
    AllocatorRegistry last;
    synchronized (AllocatorRegistry.class) {
      last = global;
    }
    if (last != null) {
      last.close();
      synchronized (AllocatorRegistry.class) {
        global = null;
      }
    }
  }

  /**
   * A registry of the providers that a class loader finds, and that the loader of this class finds.
   * Providers of a loader with another copy of this library are left out.
   */
  static AllocatorRegistry load(ClassLoader loader) {
    AllocatorRegistry registry =
        new AllocatorRegistry(() -> System.getProperty(ALLOCATOR_PROP_NAME));
    Set<Class<?>> seen = new HashSet<>();
    registry.registerAll(loader, seen);
    registry.registerAll(AllocatorRegistry.class.getClassLoader(), seen);
    return registry;
  }

  /** Whether a loader has a copy of this library of its own, as an application in a server may. */
  private static boolean hasAnotherCopy(ClassLoader loader) {
    ClassLoader asked = loader == null ? ClassLoader.getSystemClassLoader() : loader;
    try {
      return asked.loadClass(AllocatorFactory.class.getName()) != AllocatorFactory.class;
    } catch (ClassNotFoundException | LinkageError none) {
      return false;
    }
  }

  private void registerAll(ClassLoader loader, Set<Class<?>> seen) {
    if (hasAnotherCopy(loader)) {
      return;
    }
    try {
      Iterator<AllocatorFactory> providers =
          ServiceLoader.load(AllocatorFactory.class, loader).iterator();
      while (providers.hasNext()) {
        AllocatorFactory provider = providers.next();
        if (seen.add(provider.getClass())) {
          register(provider);
        }
      }
    } catch (ServiceConfigurationError broken) {
      throw new IllegalStateException(
          "an allocator provider cannot be loaded: " + broken.getMessage(), broken);
    }
  }

  private void register(AllocatorFactory provider) {
    try {
      register(provider.name(), provider.priority(), provider::create);
    } catch (RuntimeException | LinkageError refused) {
      throw new IllegalStateException(
          "allocator provider "
              + provider.getClass().getName()
              + " cannot be registered: "
              + refused.getMessage(),
          refused);
    }
  }

  /**
   * Adds an allocator.
   *
   * <p>Threading: any thread.
   *
   * @param name under which it is asked for; several may have the same name with different
   *     priorities, and the highest is meant then
   * @param priority the higher the more it is preferred; among equals the first registered wins
   * @param factory makes the allocator when it is first asked for
   * @throws NullPointerException if {@code name} or {@code factory} is null
   * @throws IllegalArgumentException if {@code name} is blank, or registered with this priority
   * @throws IllegalStateException if the registry is closed
   */
  public void register(String name, int priority, Supplier<? extends Allocator> factory) {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(factory, "factory");
    if (name.isBlank()) {
      throw new IllegalArgumentException("name `" + name + "` is blank");
    }
    synchronized (entries) {
      checkOpen();
      for (Entry entry : entries) {
        if (entry.priority == priority && entry.name.equals(name)) {
          throw new IllegalArgumentException("allocator " + entry + " is registered already");
        }
      }
      entries.add(new Entry(name, priority, factory));
    }
  }

  /**
   * The default allocator: the one with the highest priority, of several the first registered.
   *
   * <p>Threading: any thread; the first call may wait for the allocator to be made.
   *
   * @throws IllegalStateException if none is registered, the system property names an unknown one,
   *     the registry is closed, or the factory fails; in the last case the next call tries again
   */
  public Allocator allocator() {
    synchronized (entries) {
      checkOpen();
      String name = override.get();
      Entry best = best(name);
      if (best != null) {
        return made(best);
      }
      throw new IllegalStateException(
          (name == null
                  ? "no default allocator; "
                  : ALLOCATOR_PROP_NAME + "=" + name + " names no allocator; ")
              + known());
    }
  }

  /**
   * An allocator by name.
   *
   * <p>Threading: any thread; the first call may wait for the allocator to be made.
   *
   * @throws NullPointerException if {@code name} is null
   * @throws IllegalArgumentException if there is none of this name; the message lists those there
   *     are
   * @throws IllegalStateException if the registry is closed, or the factory fails; in the last case
   *     the next call tries again
   */
  public Allocator allocator(String name) {
    Objects.requireNonNull(name, "name");
    synchronized (entries) {
      checkOpen();
      Entry best = best(name);
      if (best == null) {
        throw new IllegalArgumentException("no allocator is named `" + name + "`; " + known());
      }
      return made(best);
    }
  }

  /**
   * Closes the allocators that were made, the last one first; the registry is of no use from then
   * on. What is registered but was never asked for is not made. A second time it does nothing.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException if an allocator cannot be closed, because memory of it is in use;
   *     those that can be are closed, and another call tries the rest again
   */
  @Override
  public void close() {
    IllegalStateException stillInUse = null;
    synchronized (entries) {
      closed = true;
      for (int i = made.size() - 1; i >= 0; i--) {
        try {
          made.get(i).made.close();
          made.remove(i);
        } catch (IllegalStateException refused) {
          if (stillInUse == null) {
            stillInUse = refused;
          } else {
            stillInUse.addSuppressed(refused);
          }
        }
      }
    }
    if (stillInUse != null) {
      throw stillInUse;
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the registry is closed");
    }
  }

  /** The entry with the highest priority, of a name or, if that is null, of all. */
  private Entry best(String name) {
    Entry best = null;
    for (Entry entry : entries) {
      if ((name == null || entry.name.equals(name))
          && (best == null || entry.priority > best.priority)) {
        best = entry;
      }
    }
    return best;
  }

  private String known() {
    return entries.isEmpty()
        ? "none is registered"
        : "registered: "
            + entries.stream().map(Entry::toString).sorted().collect(Collectors.joining(", "));
  }

  private Allocator made(Entry entry) {
    if (entry.made == null) {
      if (entry.beingMade) {
        throw new IllegalStateException("factory of allocator " + entry + " asks for itself");
      }
      entry.beingMade = true;
      try {
        entry.made = make(entry);
        made.add(entry);
      } finally {
        entry.beingMade = false;
      }
    }
    return entry.made;
  }

  private static Allocator make(Entry entry) {
    Allocator made;
    try {
      made = entry.factory.get();
    } catch (RuntimeException | LinkageError failed) {
      throw new IllegalStateException(
          "factory of allocator " + entry + " failed: " + failed, failed);
    }
    if (made == null) {
      throw new IllegalStateException("factory of allocator " + entry + " made nothing (null)");
    }
    return made;
  }
}
