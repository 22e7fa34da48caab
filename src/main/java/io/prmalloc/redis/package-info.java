/**
 * Plans shared through Redis: {@link io.prmalloc.redis.RedisPlanStore}.
 *
 * <p>May use: {@code io.prmalloc.kept}, and Lettuce, which is optional: nothing else in this
 * project imports it. Compiled against the line of Lettuce that runs on Netty 4.1, and tested on
 * the current one, which needs Netty 4.2, too.
 *
 * <p>Conventions: whatever the client throws is an {@code IOException} outside of here.
 */
package io.prmalloc.redis;
