package io.prmalloc.tensor.wire;

import io.prmalloc.element.ElementType;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The codecs of all types that have a place in a message.
 *
 * <p>Threading: immutable.
 */
final class Codecs {

  private static final Map<ElementType<?>, ElementCodec> ALL =
      Stream.concat(
              PrimitiveFields.codecs().stream(),
              Stream.of(new StringCodec(), MessageCodec.ofHandles(), MessageCodec.ofVariants()))
          .collect(Collectors.toUnmodifiableMap(ElementCodec::type, Function.identity()));

  private Codecs() {}

  /**
   * The codec of a type, or null if it is none of {@link io.prmalloc.element.ElementTypes}, and so
   * has no place in a message.
   */
  static ElementCodec of(ElementType<?> type) {
    return ALL.get(type);
  }
}
