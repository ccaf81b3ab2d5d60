package io.kvtier.llama;

import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** A little-endian file of known size, read from its beginning to its end. */
final class ModelFile implements Closeable {
    private static final int CHUNK_BYTES = 1 << 16;

    private final String name;
    private final long size;
    private final DigestInputStream in;
    private long position;

    private ModelFile(String name, long size, InputStream in) {
        this.name = name;
        this.size = size;
        this.in = new DigestInputStream(in, sha256());
    }

    static ModelFile open(Path path) throws IOException {
        long size = Files.size(path);
        InputStream in = new BufferedInputStream(Files.newInputStream(path), CHUNK_BYTES);
        return new ModelFile(path.toString(), size, in);
    }

    /** Opens a resource of this package. */
    static ModelFile bundled(String resource) throws IOException {
        try (InputStream in = ModelFile.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new FileNotFoundException(
                        "resource " + resource + " is missing from package " + ModelFile.class.getPackageName());
            }
            byte[] bytes = in.readAllBytes();
            return new ModelFile(resource, bytes.length, new ByteArrayInputStream(bytes));
        }
    }

    String name() {
        return name;
    }

    /** Returns the size of the whole file in bytes. */
    long size() {
        return size;
    }

    /** Returns how many bytes have been read. */
    long position() {
        return position;
    }

    /** Returns the first 8 bytes of SHA-256 over the bytes read so far, in hexadecimal. */
    String digest() {
        return HexFormat.of().formatHex(in.getMessageDigest().digest(), 0, 8);
    }

    int readInt() throws IOException {
        return wrap(readBytes(Integer.BYTES)).getInt();
    }

    float readFloat() throws IOException {
        return wrap(readBytes(Float.BYTES)).getFloat();
    }

    /**
     * Reads so many bytes.
     *
     * @throws ModelFileException if the file has fewer; nothing is allocated then
     */
    byte[] readBytes(int count) throws IOException {
        requireRemaining(count);
        byte[] bytes = new byte[count];
        readFully(bytes, count);
        return bytes;
    }

    /**
     * Reads so many float32.
     *
     * @throws ModelFileException if the file has fewer; nothing is allocated then
     */
    float[] readFloats(int count) throws IOException {
        requireRemaining((long) count * Float.BYTES);
        float[] floats = new float[count];
        byte[] chunk = new byte[(int) Math.min(CHUNK_BYTES, (long) count * Float.BYTES)];
        for (int done = 0; done < count; ) {
            int now = Math.min(count - done, CHUNK_BYTES / Float.BYTES);
            readFully(chunk, now * Float.BYTES);
            wrap(chunk).asFloatBuffer().get(floats, done, now);
            done += now;
        }
        return floats;
    }

    /** Passes over so many float32. */
    void skipFloats(long count) throws IOException {
        long bytes = count * Float.BYTES;
        requireRemaining(bytes);
        in.skipNBytes(bytes);
        position += bytes;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }

    /**
     * Checks that so many bytes are left.
     *
     * @throws ModelFileException if not
     */
    void requireRemaining(long bytes) throws ModelFileException {
        if (size - position < bytes) {
            throw truncated(position + bytes, size);
        }
    }

    private void readFully(byte[] target, int count) throws IOException {
        int read = in.readNBytes(target, 0, count);
        if (read < count) {
            throw truncated(position + count, position + read);
        }
        position += count;
    }

    private ModelFileException truncated(long needed, long found) {
        return new ModelFileException(name, "needs at least " + needed + " bytes, has " + found);
    }

    private static ByteBuffer wrap(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform must provide SHA-256", e);
        }
    }
}
