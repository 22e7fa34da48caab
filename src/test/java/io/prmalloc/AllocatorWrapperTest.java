package io.prmalloc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class AllocatorWrapperTest {

  /** Whether a method is built on others of the interface, through which the wrapper sees it. */
  private static boolean isBuiltOnOthers(Method method) {
    return method.getName().equals("allocate") && method.getParameterTypes()[0] != long.class;
  }

  private static Object someValue(Class<?> type) {
    if (type == long.class) {
      return 64L;
    }
    return type == boolean.class ? true : type == String.class ? "inner" : null;
  }

  @Test
  void shouldPassEveryCallOnAsItIsWhenNothingIsOverridden() throws Exception {
    List<String> calls = new ArrayList<>();
    Allocator inner =
        (Allocator)
            Proxy.newProxyInstance(
                Allocator.class.getClassLoader(),
                new Class<?>[] {Allocator.class},
                (proxy, method, arguments) -> {
                  calls.add(method + Arrays.toString(arguments));
                  return someValue(method.getReturnType());
                });
    AllocatorWrapper wrapper = new AllocatorWrapper(inner);
    assertSame(inner, wrapper.wrapped());
    int passed = 0;
    for (Method method : Allocator.class.getMethods()) {
      if (Modifier.isStatic(method.getModifiers()) || isBuiltOnOthers(method)) {
        continue;
      }
      Object[] arguments = new Object[method.getParameterCount()];
      for (int i = 0; i < arguments.length; i++) {
        arguments[i] =
            method.getParameterTypes()[i] == long.class
                ? (Object) (1000L + i)
                : AllocationAttributes.DEFAULT;
      }
      calls.clear();
      Object result = method.invoke(wrapper, arguments);
      String wanted = method + Arrays.toString(arguments.length == 0 ? null : arguments);
      assertEquals(List.of(wanted), calls);
      Object value = someValue(method.getReturnType());
      if (value == null) {
        assertNull(result);
      } else {
        assertEquals(value, result, wanted);
      }
      passed++;
    }
    assertTrue(passed >= 16, passed + " methods seen of those that Allocator has");
  }

  @Test
  void shouldChangeOneCallAndNoOtherWhenOneIsOverridden() {
    try (Allocator doubling =
        new AllocatorWrapper(new CpuAllocator(SubAllocator.direct())) {
          @Override
          public Allocation allocate(long bytes) {
            return super.allocate(2 * bytes);
          }
        }) {
      try (Allocation doubled = doubling.allocate(100);
          Allocation single = doubling.allocate(100, 64)) {
        assertEquals(200, doubled.sizeBytes());
        assertEquals(100, single.sizeBytes());
        assertEquals("cpu", doubling.name());
      }
    }
  }

  @Test
  void shouldThrowWhenThereIsNothingToWrap() {
    assertThrows(NullPointerException.class, () -> new AllocatorWrapper(null));
  }
}
