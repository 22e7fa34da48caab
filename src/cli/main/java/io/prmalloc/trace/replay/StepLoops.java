package io.prmalloc.trace.replay;

import io.prmalloc.trace.Trace;
import io.prmalloc.trace.replay.lane.Lane;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Makes the loops of one run.
 *
 * <p>Threading: any thread.
 */
final class StepLoops {

  // The JIT compiles a call through an interface by the classes it has seen there. One loop for all
  // runs would see the lane of each allocator in turn, and from the third on every call would be a
  // look-up that the first two never paid: the order of the runs would decide. So each run gets a
  // class of its own, a hidden copy of PlainStepLoop, that only ever sees one kind of lane.

  private static final String TEMPLATE = "PlainStepLoop.class";

  private final MethodHandle constructor;

  StepLoops() {
    try (InputStream in = StepLoops.class.getResourceAsStream(TEMPLATE)) {
      MethodHandles.Lookup copy = MethodHandles.lookup().defineHiddenClass(in.readAllBytes(), true);
      constructor =
          copy.findConstructor(
                  copy.lookupClass(),
                  MethodType.methodType(void.class, Lane.class, Trace.class, Touch.class))
              .asType(MethodType.methodType(StepLoop.class, Lane.class, Trace.class, Touch.class));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("class " + TEMPLATE + " cannot be copied", e);
    }
  }

  /** A loop for one thread. */
  StepLoop create(Lane lane, Trace trace, Touch touch) {
    try {
      return (StepLoop) constructor.invokeExact(lane, trace, touch);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("class " + TEMPLATE + " cannot be copied", e);
    }
  }
}
