package io.prmalloc.spring;

import io.prmalloc.SubAllocator;
import io.prmalloc.micrometer.PrmallocMetrics;
import io.prmalloc.pool.TensorPoolAllocator;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The beans of the pool and its metrics. */
// page
@Configuration(proxyBeanMethods = false)
class PoolConfiguration {

  @Bean // closed by Spring after all beans that were given it
  TensorPoolAllocator pool(@Value("${pool.bytes:67108864}") long bytes) {
    return TensorPoolAllocator.builder().subAllocator(SubAllocator.direct(bytes)).build();
  }

  @Bean // bound by the actuator to every registry
  PrmallocMetrics poolMetrics(TensorPoolAllocator pool) {
    return new PrmallocMetrics(pool, "main");
  }
}
// end of page
