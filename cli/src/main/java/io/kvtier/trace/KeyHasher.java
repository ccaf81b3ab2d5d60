package io.kvtier.trace;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Makes a block's key out of what names the block: SHA-256 over a domain text and the format's name, then whatever
 * {@link TraceFormat#nameBlock} adds. A text or a byte string goes in with its length before it, so that no two names
 * run into one.
 */
final class KeyHasher {
    private static final String DOMAIN = "kvtier trace block v1";

    private final MessageDigest digest = sha256();
    private final ByteBuffer number = ByteBuffer.allocate(Long.BYTES);
    private final String format;

    KeyHasher(String format) {
        this.format = format;
    }

    void begin() {
        digest.reset();
        text(DOMAIN);
        text(format);
    }

    void text(String text) {
        bytes(text.getBytes(StandardCharsets.UTF_8));
    }

    void bytes(byte[] bytes) {
        digest.update(number.clear().putInt(bytes.length).flip());
        digest.update(bytes);
    }

    void id(long id) {
        digest.update(number.clear().putLong(id).flip());
    }

    byte[] finish() {
        return digest.digest();
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
