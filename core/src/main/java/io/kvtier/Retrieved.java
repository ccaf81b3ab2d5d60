package io.kvtier;

/**
 * What a retrieve put into the engine's memory: one contiguous prefix.
 *
 * @param tokens tokens of the prefix; what the lease promised, or less if a tier lost something
 * @param memoryTokens those of them that came from memory
 * @param lowerTokens those of them that came from the tiers below
 */
public record Retrieved(int tokens, int memoryTokens, int lowerTokens) {}
