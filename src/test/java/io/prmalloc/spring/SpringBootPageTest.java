package io.prmalloc.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.PageCode;
import io.prmalloc.pool.TensorPoolAllocator;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The code on the page {@code docs/spring-boot.md}, run on this class path. */
class SpringBootPageTest {

  /** Each would have threads and a TLS context of its own. */
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  @Test
  void shouldShowThisCodeWhenThePageIsRead() throws Exception {
    PageCode.check("spring-boot.md", PoolConfiguration.class, SumController.class);
  }

  @Test
  void shouldServeFromThePoolShowItsMetricsAndCloseItLast() throws Exception {
    ConfigurableApplicationContext server =
        new SpringApplicationBuilder(ServerApplication.class, UsesThePoolToTheEnd.class)
            .properties(
                Map.of(
                    "server.port", 0,
                    "management.endpoints.web.exposure.include", "health,prometheus",
                    "spring.main.banner-mode", "off"))
            .run();
    TensorPoolAllocator pool = server.getBean(TensorPoolAllocator.class);
    UsesThePoolToTheEnd user = server.getBean(UsesThePoolToTheEnd.class);
    String address =
        "http://127.0.0.1:" + server.getEnvironment().getRequiredProperty("local.server.port");
    for (int request = 1; request <= 30; request++) {
      assertEquals("3.5", sum(address, 1, 2.5f));
    }
    assertTrue(pool.stepStats().plannedSteps() > 0, () -> pool.stepStats().toString());
    String metrics = get(address + "/actuator/prometheus");
    assertTrue(metrics.contains("prmalloc_steps_total{kind=\"planned\",pool=\"main\"}"), metrics);
    assertTrue(get(address + "/actuator/health").contains("UP"));
    server.close();
    assertTrue(user.usedAtTheEnd, "the pool was closed before a bean that has it");
    assertThrows(IllegalStateException.class, () -> pool.allocate(1));
  }

  static String sum(String address, float... numbers) throws IOException, InterruptedException {
    ByteBuffer body =
        ByteBuffer.allocate(numbers.length * Float.BYTES).order(ByteOrder.nativeOrder());
    body.asFloatBuffer().put(numbers);
    return CLIENT
        .send(
            HttpRequest.newBuilder(URI.create(address + "/sum"))
                .header("Content-Type", "application/octet-stream")
                .POST(BodyPublishers.ofByteArray(body.array()))
                .build(),
            BodyHandlers.ofString())
        .body();
  }

  static String get(String address) throws IOException, InterruptedException {
    return CLIENT
        .send(HttpRequest.newBuilder(URI.create(address)).build(), BodyHandlers.ofString())
        .body();
  }

  /** A bean that needs the pool until it ends itself. */
  @Configuration(proxyBeanMethods = false)
  static class UsesThePoolToTheEnd {
    private volatile boolean usedAtTheEnd;

    @Bean
    AutoCloseable lastUse(TensorPoolAllocator pool) {
      return () -> {
        try (Allocation last = pool.allocate(100)) {
          usedAtTheEnd = last.sizeBytes() == 100;
        }
      };
    }
  }
}
