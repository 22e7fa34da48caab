package io.prmalloc.spring;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** A server whose tensors lie in a pool; see {@code docs/spring-boot.md}. */
@SpringBootApplication
public class ServerApplication {

  /** Runs the server until the process is told to end. */
  public static void main(String[] arguments) {
    SpringApplication.run(ServerApplication.class, arguments);
  }
}
