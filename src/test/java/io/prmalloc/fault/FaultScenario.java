package io.prmalloc.fault;

/**
 * What is done to one fresh pool while a fault is injected, and what must hold afterwards. Its
 * implementations are loaded with the instrumented classes; this interface is shared with the test.
 *
 * <p>Threading: the thread that made it.
 */
public interface FaultScenario {

  /** Brings the pool to where the work begins. Nothing is injected meanwhile. */
  void prepare() throws Exception;

  /** What a user does. May end with what was injected. */
  void work() throws Exception;

  /**
   * Gives back what the user got, checks that the pool goes on, and closes it. Nothing is injected
   * meanwhile.
   *
   * @throws AssertionError if something does not hold
   */
  void check() throws Exception;
}
