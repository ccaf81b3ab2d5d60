package io.kvtier.bindings.cuda;

/**
 * The priorities that streams of a device may have: lower numbers come first, so {@code greatest <= least}.
 *
 * @param least the priority that gives way to all others; streams have it unless they are made with another
 * @param greatest the priority that comes first
 */
public record StreamPriorities(int least, int greatest) {}
