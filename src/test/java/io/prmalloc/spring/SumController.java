package io.prmalloc.spring;

import io.prmalloc.Allocation;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.TensorPoolAllocator;
import java.nio.FloatBuffer;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** A controller in place of a model: it adds up the floats of a request. */
// page
@RestController
class SumController {

  private final TensorPoolAllocator pool;

  SumController(TensorPoolAllocator pool) {
    this.pool = pool;
  }

  @PostMapping("/sum")
  double sum(@RequestBody byte[] body) {
    try (ScopedMemoryCollector step = pool.collect("sum");
        Allocation input = step.allocate(body.length)) {
      FloatBuffer floats = input.byteBuffer().put(0, body).asFloatBuffer();
      double sum = 0;
      while (floats.hasRemaining()) {
        sum += floats.get();
      }
      return sum;
    }
  }
}
// end of page
