package io.prmalloc.example;

import java.lang.reflect.Proxy;

/** The signals that ask a process to end. Threading: any thread. */
final class EndSignals {

  // Not a shutdown hook: ONNX Runtime has one that releases its environment, and hooks run side by
  // side. A session that still runs when the environment goes crashes the process. By reflection:
  // javac warns of `sun.misc` whatever one says.

  private EndSignals() {}

  /**
   * Has something done at SIGTERM and at Ctrl-C, in place of the JVM's shutdown.
   *
   * @throws IllegalStateException if this JVM does not hand signals over
   */
  static void handle(Runnable end) {
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      Object calls =
          Proxy.newProxyInstance(
              handler.getClassLoader(),
              new Class<?>[] {handler},
              (proxy, method, arguments) -> {
                end.run();
                return null;
              });
      for (String name : new String[] {"TERM", "INT"}) {
        signal
            .getMethod("handle", signal, handler)
            .invoke(null, signal.getConstructor(String.class).newInstance(name), calls);
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("this JVM does not hand signals over", e);
    }
  }
}
